// SPDX-License-Identifier: Apache-2.0
// scratch.h divides the scratch memory of a handler run: strings grow from its start, iterators
// from its end. The last bytes of the string side are a place to build one more string when the
// rest is used up; such a string is interned.
#pragma once
#include "runtime/agent/arena.h"
#include "runtime/shared/strings.h"

namespace dj::agent {

constexpr uint32_t kWordBytes = 8;
inline uint32_t round_word(uint32_t bytes) { return (bytes + kWordBytes - 1) & ~(kWordBytes - 1); }

inline const abi::Str* empty_string() {
  return abi::strings_of(arena())->constants.first.get(place());
}

// Where the next string may be written, max_string bytes of it. Nothing is taken yet. null: no
// scratch memory.
inline abi::Str* string_room(abi::Context* ctx) {
  uint32_t bytes = round_word(sizeof(uint32_t) + arena()->max_string);
  if (ctx->iterators < bytes || ctx->scratch_used > ctx->iterators - bytes) return nullptr;
  return reinterpret_cast<abi::Str*>(ctx->scratch + ctx->scratch_used);
}

// As string_room(), for a text that may be longer than MAXSTRINGLEN; *room: bytes of it. What later
// strings need is left free; where nothing else is, the text gets no more than MAXSTRINGLEN.
inline abi::Str* long_string_room(abi::Context* ctx, uint32_t* room) {
  uint32_t taken = ctx->scratch_used + 2 * round_word(sizeof(uint32_t) + arena()->max_string);
  if (taken >= ctx->iterators) {
    abi::Str* last = string_room(ctx);
    *room = last == nullptr ? 0 : arena()->max_string;
    return last;
  }
  *room = arena()->max_string + (ctx->iterators - taken) / 2;
  return reinterpret_cast<abi::Str*>(ctx->scratch + ctx->scratch_used);
}

// Makes what was written to string_room() a string of the script.
inline const abi::Str* keep_string(abi::Context* ctx, abi::Str* made) {
  uint32_t bytes = round_word(sizeof(uint32_t) + made->len);
  uint32_t reserve = round_word(sizeof(uint32_t) + arena()->max_string);
  if (ctx->scratch_used + bytes + reserve > ctx->iterators) return dj_intern(made);
  ctx->scratch_used += bytes;
  return made;
}

// A string of `length` bytes at `data`, cut (and counted) where it is longer than MAXSTRINGLEN.
inline const abi::Str* make_string(abi::Context* ctx, const char* data, uint64_t length) {
  if (length == 0) return empty_string();
  abi::Str* made = string_room(ctx);
  if (made == nullptr) {
    count_skip(abi::kSkipStringBudget);
    return empty_string();
  }
  if (length > arena()->max_string) {
    length = arena()->max_string;
    count_skip(abi::kSkipStringCut);
  }
  made->len = static_cast<uint32_t>(length);
  for (uint32_t i = 0; i < made->len; ++i) made->data[i] = data[i];
  return keep_string(ctx, made);
}

}  // namespace dj::agent
