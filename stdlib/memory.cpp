// SPDX-License-Identifier: Apache-2.0
// Built-ins that read strings and numbers of the program's memory.
#include "runtime/agent/scratch.h"
#include "runtime/agent/user_memory.h"
#include "stdlib/entries.h"

using namespace dj;

namespace {

// Copies from `address` to `made` up to a NUL or `limit` bytes, page by page. Where it cannot be
// read: false, and *bad says from where on.
bool copy_string(abi::Str* made, uint64_t address, uint32_t limit, uint64_t* bad) {
  uint32_t length = 0;
  bool ended = false;
  while (length < limit && !ended) {
    uint64_t from = address + length, to_page_end = agent::kPageBytes - from % agent::kPageBytes;
    uint32_t rest = limit - length;
    uint32_t bytes = rest < to_page_end ? rest : static_cast<uint32_t>(to_page_end);
    if (!agent::can_read(made->data + length, from, bytes)) {
      *bad = from;
      return false;
    }
    for (uint32_t i = 0; i < bytes && !ended; ++i) {
      ended = made->data[length] == '\0';
      length += !ended;
    }
  }
  made->len = length;
  return true;
}

// Whether the text goes on behind what was kept.
bool goes_on(uint64_t address, uint32_t kept) {
  char next = '\0';
  return agent::can_read(&next, address + kept, 1) && next != '\0';
}

// `otherwise`: what stands for a text that cannot be read; null: that is an error of the script.
const abi::Str* read_string(abi::Context* ctx, uint64_t address, uint32_t limit, bool whole,
                            const abi::Str* otherwise) {
  abi::Str* made = agent::string_room(ctx);
  if (made == nullptr) {
    agent::count_skip(abi::kSkipStringBudget);
    return agent::empty_string();
  }
  uint64_t bad = 0;
  if (!copy_string(made, address, limit, &bad)) {
    if (otherwise != nullptr) return otherwise;
    dj_raise(ctx, ctx->site, ctx->span, abi::kErrBadAddress, static_cast<int64_t>(bad));
    return agent::empty_string();
  }
  if (whole && made->len == limit && goes_on(address, limit))
    agent::count_skip(abi::kSkipStringCut);
  return made->len == 0 ? agent::empty_string() : agent::keep_string(ctx, made);
}

const abi::Str* read_string_n(abi::Context* ctx, int64_t address, int64_t length,
                              const abi::Str* otherwise) {
  uint32_t max = agent::arena()->max_string;
  if (length <= 0) return agent::empty_string();
  bool whole = length > max;
  return read_string(ctx, static_cast<uint64_t>(address),
                     whole ? max : static_cast<uint32_t>(length), whole, otherwise);
}

// `length` bytes as they are, NULs too; hex: two digits of each, made of what first lies in the
// upper half of the room.
const abi::Str* read_bytes(abi::Context* ctx, int64_t address, int64_t length, bool hex) {
  abi::Str* made = agent::string_room(ctx);
  uint32_t most = agent::arena()->max_string / (hex ? 2 : 1);
  if (made == nullptr || length <= 0) return agent::empty_string();
  if (length > most) agent::count_skip(abi::kSkipStringCut);
  uint32_t count = length > most ? most : static_cast<uint32_t>(length);
  char* bytes = made->data + (hex ? most : 0);
  for (uint32_t done = 0; done < count;) {
    uint64_t from = static_cast<uint64_t>(address) + done;
    uint64_t page = agent::kPageBytes - from % agent::kPageBytes;
    uint32_t piece = count - done < page ? count - done : static_cast<uint32_t>(page);
    if (!agent::can_read(bytes + done, from, piece)) {
      dj_raise(ctx, ctx->site, ctx->span, abi::kErrBadAddress, static_cast<int64_t>(from));
      return agent::empty_string();
    }
    done += piece;
  }
  for (uint64_t i = 0; hex && i < count; ++i) {
    auto byte = static_cast<unsigned char>(bytes[i]);
    made->data[2 * i] = "0123456789abcdef"[byte >> 4];
    made->data[2 * i + 1] = "0123456789abcdef"[byte & 15];
  }
  made->len = hex ? 2 * count : count;
  return agent::keep_string(ctx, made);
}

template <typename Number>
int64_t read_number(abi::Context* ctx, int64_t address) {
  Number value = 0;
  if (agent::can_read(&value, static_cast<uint64_t>(address), sizeof value))
    return static_cast<int64_t>(value);
  dj_raise(ctx, ctx->site, ctx->span, abi::kErrBadAddress, address);
  return 0;
}

}  // namespace

const abi::Str* dj_user_string(abi::Context* ctx, int64_t address) {
  return dj_user_string2(ctx, address, nullptr);
}
const abi::Str* dj_user_string2(abi::Context* ctx, int64_t address, const abi::Str* otherwise) {
  return read_string(ctx, static_cast<uint64_t>(address), agent::arena()->max_string, true,
                     otherwise);
}
const abi::Str* dj_user_string_n(abi::Context* ctx, int64_t address, int64_t length) {
  return read_string_n(ctx, address, length, nullptr);
}
const abi::Str* dj_user_string_n2(abi::Context* ctx, int64_t address, int64_t length,
                                  const abi::Str* otherwise) {
  return read_string_n(ctx, address, length, otherwise);
}
const abi::Str* dj_user_string_nofault(abi::Context* ctx, int64_t address) {
  return dj_user_string2(ctx, address, agent::empty_string());
}
const abi::Str* dj_user_string_n_nofault(abi::Context* ctx, int64_t address, int64_t length) {
  return read_string_n(ctx, address, length, agent::empty_string());
}

const abi::Str* dj_user_bytes(abi::Context* ctx, int64_t address, int64_t length) {
  return read_bytes(ctx, address, length, false);
}
const abi::Str* dj_user_bytes_hex(abi::Context* ctx, int64_t address, int64_t length) {
  return read_bytes(ctx, address, length, true);
}

int64_t dj_user_int8(abi::Context* ctx, int64_t at) { return read_number<int8_t>(ctx, at); }
int64_t dj_user_int16(abi::Context* ctx, int64_t at) { return read_number<int16_t>(ctx, at); }
int64_t dj_user_int32(abi::Context* ctx, int64_t at) { return read_number<int32_t>(ctx, at); }
int64_t dj_user_int64(abi::Context* ctx, int64_t at) { return read_number<int64_t>(ctx, at); }
int64_t dj_user_uint8(abi::Context* ctx, int64_t at) { return read_number<uint8_t>(ctx, at); }
int64_t dj_user_uint16(abi::Context* ctx, int64_t at) { return read_number<uint16_t>(ctx, at); }
int64_t dj_user_uint32(abi::Context* ctx, int64_t at) { return read_number<uint32_t>(ctx, at); }
