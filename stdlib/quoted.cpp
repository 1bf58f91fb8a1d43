// SPDX-License-Identifier: Apache-2.0
// Built-ins that make text readable: escapes for what is no printable ASCII (\u00E9 for characters
// of UTF-8), quotes around it.
#include "runtime/agent/quote.h"
#include "runtime/agent/scratch.h"
#include "runtime/agent/utf8.h"
#include "stdlib/entries.h"

using namespace dj;

namespace {

constexpr uint32_t kCutBytes = 4;  // `"...` stands behind a quoted text that goes on

// A text of at most `limit` bytes in a string_room(), quotes and dots included.
class Quoter {
 public:
  Quoter(abi::Str* made, uint32_t limit, bool quoted)
      : made_(made), limit_(limit), quoted_(quoted) {
    if (quoted) made_->data[used_++] = '"';
    safe_ = used_;
  }
  // False: no room, the text ends before this byte.
  bool put(char c) {
    const auto byte = static_cast<uint8_t>(c);
    if (!character_.takes(byte) && !flush()) return false;
    character_.add(byte);
    if (!character_.complete()) return true;
    if (character_.used == 1) return flush();
    char text[agent::kUnicodeBytes];
    const uint32_t bytes = agent::unicode_escape(text, character_.code());
    character_.used = 0;
    return write(text, bytes);
  }
  // goes_on: there is more text than was put.
  const abi::Str* finish(abi::Context* ctx, bool goes_on) {
    flush();
    if (full_ && limit_ == agent::arena()->max_string) agent::count_skip(abi::kSkipStringCut);
    bool cut = full_ || goes_on;
    if (quoted_) {
      if (cut) used_ = safe_;
      made_->data[used_++] = '"';
      for (int dot = 0; cut && dot < 3; ++dot) made_->data[used_++] = '.';
    }
    made_->len = used_;
    return used_ == 0 ? agent::empty_string() : agent::keep_string(ctx, made_);
  }

 private:
  // Bytes that became no character, each by itself.
  bool flush() {
    bool room = !full_;
    for (uint32_t i = 0; i < character_.used && room; ++i) {
      char text[agent::kEscapeBytes];
      room = write(text, agent::escape(text, static_cast<char>(character_.bytes[i])));
    }
    character_.used = 0;
    return room;
  }
  bool write(const char* text, uint32_t bytes) {
    full_ = used_ + bytes + quoted_ > limit_;
    if (full_) return false;
    for (uint32_t i = 0; i < bytes; ++i) made_->data[used_++] = text[i];
    if (used_ + kCutBytes <= limit_) safe_ = used_;
    return true;
  }

  agent::Utf8 character_;
  abi::Str* made_;
  uint32_t limit_, used_ = 0;
  uint32_t safe_;  // the last length with room for the dots behind it
  bool quoted_, full_ = false;
};

// What stands for a text that cannot be read.
const abi::Str* address_text(abi::Context* ctx, uint64_t address) {
  char text[18];
  text[0] = '0', text[1] = 'x';
  uint32_t used = 2, digits = 1;
  while (digits < 16 && address >> 4 * digits != 0) ++digits;
  for (; digits-- > 0;) text[used++] = "0123456789abcdef"[address >> 4 * digits & 15];
  return agent::make_string(ctx, text, used);
}

const abi::Str* no_room() {
  agent::count_skip(abi::kSkipStringBudget);
  return agent::empty_string();
}

uint64_t not_negative(int64_t length) { return length <= 0 ? 0 : static_cast<uint64_t>(length); }

// How much of the program's memory is quoted, in how many bytes of text; exact: a zero byte is one
// like others, and what follows is nobody's.
struct Quoted {
  uint64_t limit = UINT64_MAX;
  uint64_t room = UINT64_MAX;
  bool exact = false;
};

// Null: it cannot be read.
const abi::Str* quote_user(abi::Context* ctx, uint64_t address, const Quoted& wanted) {
  abi::Str* made = agent::string_room(ctx);
  uint32_t max = agent::arena()->max_string;
  if (made == nullptr || max < kCutBytes + 1) return no_room();
  uint32_t room = wanted.room < max ? static_cast<uint32_t>(wanted.room) : max;
  Quoter quoter(made, room < kCutBytes + 1 ? kCutBytes + 1 : room, true);
  agent::UserBytes bytes(address);
  for (uint64_t i = 0;; ++i) {
    if (wanted.exact && i == wanted.limit) return quoter.finish(ctx, false);
    char c = '\0';
    bool readable = bytes.next(&c);
    if (i == wanted.limit) return quoter.finish(ctx, readable && c != '\0');
    if (!readable) return nullptr;
    if (c == '\0' && !wanted.exact) return quoter.finish(ctx, false);
    if (!quoter.put(c)) return quoter.finish(ctx, true);
  }
}

const abi::Str* quote_or_address(abi::Context* ctx, int64_t address, const Quoted& wanted) {
  auto from = static_cast<uint64_t>(address);
  const abi::Str* text = quote_user(ctx, from, wanted);
  return text != nullptr ? text : address_text(ctx, from);
}

}  // namespace

const abi::Str* dj_text_str(abi::Context* ctx, const abi::Str* s) {
  return dj_text_strn(ctx, s, 0, 0);
}

// length 0: as long as strings can be.
const abi::Str* dj_text_strn(abi::Context* ctx, const abi::Str* s, int64_t length, int64_t quoted) {
  abi::Str* made = agent::string_room(ctx);
  uint32_t max = agent::arena()->max_string;
  if (made == nullptr || max < kCutBytes + 1) return no_room();
  uint32_t limit = length <= 0 || length > max ? max : static_cast<uint32_t>(length);
  if (quoted != 0 && limit < kCutBytes + 1) limit = kCutBytes + 1;
  Quoter quoter(made, limit, quoted != 0);
  const abi::Text text = abi::text_of(s);
  for (uint32_t i = 0; i < text.len && quoter.put(text.data[i]);) ++i;
  return quoter.finish(ctx, false);
}

const abi::Str* dj_user_string_quoted(abi::Context* ctx, int64_t address) {
  return quote_or_address(ctx, address, {});
}
const abi::Str* dj_user_string_n_quoted(abi::Context* ctx, int64_t address, int64_t length) {
  return quote_or_address(ctx, address, {.limit = not_negative(length)});
}
const abi::Str* dj_user_string_n2_quoted(abi::Context* ctx, int64_t address, int64_t length,
                                         int64_t room) {
  return quote_or_address(ctx, address,
                          {.limit = not_negative(length), .room = not_negative(room)});
}
const abi::Str* dj_user_buffer_quoted(abi::Context* ctx, int64_t address, int64_t length,
                                      int64_t room) {
  return quote_or_address(
      ctx, address, {.limit = not_negative(length), .room = not_negative(room), .exact = true});
}
const abi::Str* dj_user_buffer_quoted_error(abi::Context* ctx, int64_t address, int64_t length,
                                            int64_t room) {
  const Quoted wanted{.limit = not_negative(length), .room = not_negative(room), .exact = true};
  const abi::Str* text = quote_user(ctx, static_cast<uint64_t>(address), wanted);
  if (text != nullptr) return text;
  dj_raise(ctx, ctx->site, ctx->span, abi::kErrBadAddress, address);
  return agent::empty_string();
}
