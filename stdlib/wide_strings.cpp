// SPDX-License-Identifier: Apache-2.0
// Built-ins that read strings of 16- and 32-bit characters of the program's memory, as UTF-8.
#include "runtime/agent/quote.h"
#include "runtime/agent/scratch.h"
#include "stdlib/entries.h"

using namespace dj;

namespace {

constexpr uint32_t kNoCharacter = 0xfffd;  // stands for what is none

// UTF-8; returns how many bytes.
uint32_t encode(char* to, uint32_t character) {
  if (character < 0x80) {
    to[0] = static_cast<char>(character);
    return 1;
  }
  const uint32_t bytes = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
  const uint32_t first = 0xf00 >> bytes & 0xff;  // as many ones as bytes
  to[0] = static_cast<char>(first | character >> 6 * (bytes - 1));
  for (uint32_t i = 1; i < bytes; ++i)
    to[i] = static_cast<char>(0x80 | (character >> 6 * (bytes - 1 - i) & 0x3f));
  return bytes;
}

bool is_high(uint32_t unit) { return unit >= 0xd800 && unit < 0xdc00; }
bool is_low(uint32_t unit) { return unit >= 0xdc00 && unit < 0xe000; }

// Characters of memory from `address` on, of `width` bytes a unit.
class Characters {
 public:
  Characters(uint64_t address, uint32_t width)
      : bytes_(address), address_(address), width_(width) {}
  // False: memory that cannot be read, from bad() on.
  bool next(uint32_t* character) {
    uint32_t unit = 0;
    if (!take(&unit)) return false;
    if (width_ == 2 && is_high(unit)) {
      uint32_t low = 0;
      if (!take(&low)) return false;
      if (is_low(low)) {
        unit = 0x10000 + (unit - 0xd800) * 0x400 + (low - 0xdc00);
      } else {
        waiting_ = low;
        has_waiting_ = true;
        unit = kNoCharacter;
      }
    } else if (unit > 0x10ffff || is_high(unit) || is_low(unit)) {
      unit = kNoCharacter;
    }
    *character = unit;
    return true;
  }
  uint64_t bad() const { return address_; }

 private:
  bool take(uint32_t* unit) {
    if (has_waiting_) {
      has_waiting_ = false;
      *unit = waiting_;
      return true;
    }
    *unit = 0;
    for (uint32_t i = 0; i < width_; ++i) {
      char c = 0;
      if (!bytes_.next(&c)) return false;
      *unit |= static_cast<uint32_t>(static_cast<uint8_t>(c)) << 8 * i;
      ++address_;
    }
    return true;
  }

  agent::UserBytes bytes_;
  uint64_t address_;
  uint32_t width_, waiting_ = 0;
  bool has_waiting_ = false;
};

// `otherwise`: what stands for a text that cannot be read; null: that is an error of the script.
const abi::Str* read_wide(abi::Context* ctx, int64_t address, uint32_t width,
                          const abi::Str* otherwise) {
  abi::Str* made = agent::string_room(ctx);
  if (made == nullptr) {
    agent::count_skip(abi::kSkipStringBudget);
    return agent::empty_string();
  }
  Characters characters(static_cast<uint64_t>(address), width);
  const uint32_t limit = agent::arena()->max_string;
  made->len = 0;
  for (uint32_t character = 0;;) {
    if (!characters.next(&character)) {
      if (otherwise != nullptr) return otherwise;
      dj_raise(ctx, ctx->site, ctx->span, abi::kErrBadAddress,
               static_cast<int64_t>(characters.bad()));
      return agent::empty_string();
    }
    if (character == 0) break;
    char text[4];
    uint32_t bytes = encode(text, character);
    if (made->len + bytes > limit) {
      agent::count_skip(abi::kSkipStringCut);
      break;
    }
    for (uint32_t i = 0; i < bytes; ++i) made->data[made->len++] = text[i];
  }
  return made->len == 0 ? agent::empty_string() : agent::keep_string(ctx, made);
}

}  // namespace

const abi::Str* dj_user_string_utf16(abi::Context* ctx, int64_t address) {
  return read_wide(ctx, address, 2, nullptr);
}
const abi::Str* dj_user_string_utf32(abi::Context* ctx, int64_t address) {
  return read_wide(ctx, address, 4, nullptr);
}
const abi::Str* dj_user_string2_utf16(abi::Context* ctx, int64_t address,
                                      const abi::Str* otherwise) {
  return read_wide(ctx, address, 2, otherwise);
}
const abi::Str* dj_user_string2_utf32(abi::Context* ctx, int64_t address,
                                      const abi::Str* otherwise) {
  return read_wide(ctx, address, 4, otherwise);
}
