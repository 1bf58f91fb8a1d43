// SPDX-License-Identifier: Apache-2.0
// Strings holds the session's interned strings. It only grows, without locks: a text gets one
// address for the whole session, so equality is equality of addresses and a string in a global or
// key is one word. A budget bounds it. What the controller interns (literals, names of probes) lies
// in the constants, so that no other process can change a text that handlers act on.
#pragma once
#include "runtime/shared/abi.h"
#include "runtime/shared/atomic.h"
#include "runtime/shared/unaligned.h"

namespace dj::abi {

// StringPool: bytes for Strs, and how many of them are taken (may run past `bytes` when it is
// full).
struct StringPool {
  ArenaRef<Str> first;
  uint32_t bytes;
};

// What handlers write. Data; the words of the hash table follow: a StrWord each, 0 empty.
struct StringWords {
  uint64_t used;     // bytes taken from the data pool
  uint64_t dropped;  // strings that found no room
  uint64_t count;    // slots taken
  uint64_t pad[5];
};

// Constants.
struct Strings {
  uint64_t slot_mask;  // slots - 1
  ArenaRef<StringWords> words;
  StringPool constants;  // the empty string is the first
  StringPool data;
  uint64_t constants_used;  // bytes; by the controller
};

// --- references ---
// StrWord: a word of the data that refers to a Str by its distance from the arena's begin, in 64
// bits as all that a script stores; 0, as of a global that was never written, is the empty string.
// Who shares the arena may write anything there, so str_at() alone follows a reference, and the
// same arithmetic in generated code (compiler/lower/strings.cpp): what lies outside of [first,
// first + span) is the empty string. Behind the span there is room for the longest Str.
using StrWord = uint64_t;
constexpr uint64_t kStringTail =
    kMostStringBytes + sizeof(Str);  // bytes of the arena behind the span

struct RefRange {
  uint64_t first, span;  // distances from the arena's base
};
inline RefRange ref_range(const Header* header, const Strings* strings) {
  const uint64_t first = strings->constants.first.offset;
  return {first, header->arena_bytes - kStringTail - first};
}
inline const Strings* strings_of(const Header* header) {
  return header->strings.get(arena_of(header));
}
inline const Str* str_at(const Header* header, StrWord ref) {
  const RefRange range = ref_range(header, strings_of(header));
  const uint64_t offset = ref - range.first;
  return reinterpret_cast<const Str*>(header->arena_base + range.first +
                                      (offset < range.span ? offset : 0));
}
// `str` lies in the arena.
inline StrWord ref_to(const Header* header, const Str* str) {
  return reinterpret_cast<uint64_t>(str) - header->arena_base;
}

constexpr uint64_t strings_slots(uint64_t pool_bytes) {
  uint64_t n = 1024;
  while (n * 32 < pool_bytes) n *= 2;
  return n;
}
// Of the data: words, slots, pool.
constexpr uint64_t strings_data_bytes(uint64_t pool_bytes) {
  return sizeof(StringWords) + 8 * strings_slots(pool_bytes) + pool_bytes;
}
// `data`: offset of zero memory of strings_data_bytes(pool_bytes); `constants`: of
// `constant_bytes` more, whose first Str is the empty one.
inline void strings_init(Strings* strings, uint64_t data, uint64_t pool_bytes, uint64_t constants,
                         uint64_t constant_bytes) {
  strings->slot_mask = strings_slots(pool_bytes) - 1;
  const uint64_t pool = data + sizeof(StringWords) + 8 * (strings->slot_mask + 1);
  strings->words = {static_cast<uint32_t>(data)};
  strings->data = {{static_cast<uint32_t>(pool)}, static_cast<uint32_t>(pool_bytes)};
  strings->constants = {{static_cast<uint32_t>(constants)}, static_cast<uint32_t>(constant_bytes)};
  strings->constants_used = 8;
}

inline uint64_t hash_bytes(const char* data, uint32_t len) {
  constexpr uint64_t kFactor = 0x9e3779b97f4a7c15ull;
  uint64_t h = 0xcbf29ce484222325ull ^ len;
  uint32_t i = 0;
  for (; i + 8 <= len; i += 8) {  // names are long, and there may be a hundred thousand
    h = (h ^ read_unaligned<uint64_t>(data + i)) * kFactor;
    h ^= h >> 32;
  }
  for (; i < len; ++i) h = (h ^ static_cast<unsigned char>(data[i])) * kFactor;
  return h ^ h >> 29;
}
inline bool same_bytes(Text a, const char* data, uint32_t len) {
  if (a.len != len) return false;
  for (uint32_t i = 0; i < len; ++i) {
    if (a.data[i] != data[i]) return false;
  }
  return true;
}

// Takes `bytes` of a pool; null: they do not fit, and shorter ones may.
inline Str* take_from(Arena arena, const StringPool& pool, uint64_t* used, uint64_t bytes) {
  uint64_t offset = load(used);
  while (offset <= pool.bytes && bytes <= pool.bytes - offset) {
    if (cas(used, offset, offset + bytes))
      return reinterpret_cast<Str*>(reinterpret_cast<uint64_t>(pool.first.get(arena)) + offset);
    offset = load(used);
  }
  return nullptr;
}

// The one Str of this text; null: out of budget (counted in `dropped`). A fresh one is taken from
// `pool`, of which `*used` bytes are taken. Walks at most as many slots as there are. is_good(Str):
// whether a Str that is there may be the one; else the fresh one takes its slot.
template <typename IsGood>
inline const Str* strings_intern_in(const Header* header, const StringPool& pool, uint64_t* used,
                                    const char* data, uint32_t len, IsGood is_good) {
  const Strings* strings = strings_of(header);
  const Arena arena = arena_of(header);
  if (len == 0) return strings->constants.first.get(arena);
  StringWords* words = strings->words.get(arena);
  auto* slots = reinterpret_cast<uint64_t*>(words + 1);
  Str* fresh = nullptr;
  uint64_t at = hash_bytes(data, len) & strings->slot_mask;
  for (uint64_t probe = 0; probe <= strings->slot_mask;
       ++probe, at = (at + 1) & strings->slot_mask) {
    for (uint32_t tries = 0; tries < 2; ++tries) {  // a slot that was empty is not empty again
      const StrWord ref = load(&slots[at]);
      const Str* known = str_at(header, ref);
      const bool good = ref != 0 && is_good(known);
      if (good && same_bytes(text_of(known), data, len)) return known;
      if (good) break;  // another text: next slot
      if (fresh == nullptr) {
        // In a fuller table each text that is not there would be compared with many that are.
        const bool full = load(&words->count) >= (strings->slot_mask + 1) / 4 * 3;
        fresh = full ? nullptr : take_from(arena, pool, used, (sizeof(uint32_t) + len + 7) / 8 * 8);
        if (fresh == nullptr) {
          add(&words->dropped, 1);
          return nullptr;
        }
        fresh->len = len;
        for (uint32_t i = 0; i < len; ++i) fresh->data[i] = data[i];
      }
      if (cas(&slots[at], ref, ref_to(header, fresh))) {
        add(&words->count, 1);
        return fresh;
      }
    }
  }
  add(&words->dropped, 1);
  return nullptr;
}
// By handlers.
inline const Str* strings_intern(const Header* header, const char* data, uint32_t len) {
  const Strings* strings = strings_of(header);
  StringWords* words = strings->words.get(arena_of(header));
  return strings_intern_in(header, strings->data, &words->used, data, len,
                           [](const Str*) { return true; });
}
// By the controller before the first handler runs: a Str that no other process can change, whatever
// stands in the data by then.
inline const Str* strings_intern_constant(const Header* header, const char* data, uint32_t len) {
  Strings* strings = header->strings.get(arena_of(header));
  const StringPool& pool = strings->constants;
  return strings_intern_in(header, pool, &strings->constants_used, data, len,
                           [header, &pool](const Str* known) {
                             return ref_to(header, known) - pool.first.offset < pool.bytes;
                           });
}
// By the controller later: a handler may have interned the same text, whose Str is the one then.
inline const Str* strings_intern_name(const Header* header, const char* data, uint32_t len) {
  Strings* strings = header->strings.get(arena_of(header));
  return strings_intern_in(header, strings->constants, &strings->constants_used, data, len,
                           [](const Str*) { return true; });
}
// Whether the Str is one of the interned ones.
inline bool is_interned(const Header* header, const Str* str) {
  const Strings* strings = strings_of(header);
  const StrWord at = ref_to(header, str);
  return at - strings->data.first.offset < strings->data.bytes ||
         at - strings->constants.first.offset < strings->constants.bytes;
}

}  // namespace dj::abi
