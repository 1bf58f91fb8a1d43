// SPDX-License-Identifier: Apache-2.0
// Writes the text of target values ($$parms, $x$). Bounded by the length of strings.
#include "runtime/shared/target_text.h"

#include "runtime/agent/quote.h"
#include "runtime/agent/scratch.h"
#include "runtime/shared/double_text.h"
#include "runtime/shared/entries.h"
#include "runtime/shared/soft_double.h"

using namespace dj;

namespace {

constexpr uint64_t kNoLimit = UINT64_MAX;

// The string being made; what does not fit is cut.
class Text {
 public:
  Text(abi::Str* made, uint32_t room) : made_(made), room_(room) {}
  void put(char c) {
    cut_ |= used_ == room_;
    if (used_ < room_) made_->data[used_++] = c;
  }
  void put(const char* bytes, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) put(bytes[i]);
  }
  void number(uint64_t value, uint32_t base, bool negative) {
    char digits[20];
    uint32_t count = 0;
    do {
      digits[count++] = "0123456789abcdef"[value % base];
      value /= base;
    } while (value != 0);
    if (negative) put('-');
    while (count != 0) put(digits[--count]);
  }
  void signed_number(int64_t value) {
    uint64_t bits = static_cast<uint64_t>(value);
    number(value < 0 ? 0 - bits : bits, 10, value < 0);
  }
  void wide(uint64_t low, uint64_t high, bool negative) {
    if (negative) {
      put('-');
      high = ~high + (low == 0);
      low = 0 - low;
    }
    uint32_t parts[] = {static_cast<uint32_t>(high >> 32), static_cast<uint32_t>(high),
                        static_cast<uint32_t>(low >> 32), static_cast<uint32_t>(low)};
    char digits[39];
    uint32_t count = 0;
    bool more = true;
    while (more) {  // a division by hand: there is no library
      uint64_t rest = 0;
      more = false;
      for (uint32_t& part : parts) {
        rest = rest << 32 | part;
        part = static_cast<uint32_t>(rest / 10);
        rest %= 10;
        more |= part != 0;
      }
      digits[count++] = static_cast<char>('0' + rest);
    }
    while (count != 0) put(digits[--count]);
  }
  void hex(uint64_t value) {
    put("0x", 2);
    number(value, 16, false);
  }
  void character(char c) {
    char text[agent::kEscapeBytes];
    put('\'');
    put(text, agent::escape(text, c, '\''));
    put('\'');
  }
  // Up to `limit` bytes in quotes; to_nul: a NUL ends it. False: unreadable, nothing is put.
  bool string(uint64_t address, uint64_t limit, bool to_nul) {
    uint32_t begin = used_;
    put('"');
    agent::UserBytes bytes(address);
    for (uint64_t i = 0; i < limit && used_ < room_; ++i) {
      char c;
      if (!bytes.next(&c)) {
        used_ = begin;
        return false;
      }
      if (to_nul && c == '\0') break;
      char text[agent::kEscapeBytes];
      put(text, agent::escape(text, c));
    }
    put('"');
    return true;
  }
  void real(uint64_t bits) {
    char text[abi::kShortDoubleBytes];
    put(text, abi::short_double_text(text, bits));
  }
  const abi::Str* finish(abi::Context* ctx) {
    if (cut_) agent::count_skip(abi::kSkipStringCut);
    made_->len = used_;
    return used_ == 0 ? agent::empty_string() : agent::keep_string(ctx, made_);
  }

 private:
  abi::Str* made_;
  uint32_t room_, used_ = 0;
  bool cut_ = false;
};

// Reads the format once, taking words as it goes.
class Writer {
 public:
  Writer(const abi::Str* format, const uint64_t* words, const uint32_t* bad, Text& out)
      : format_(format), words_(words), bad_(bad), out_(out) {}

  void run() {
    while (at_ < format_->len) {
      char c = take();
      if (c != '%') {
        out_.put(c);
      } else if (peek() == '%') {
        out_.put(take());
      } else {
        value(take());
      }
    }
  }

 private:
  char peek() const { return at_ < format_->len ? format_->data[at_] : '\0'; }
  char take() {
    char c = peek();
    ++at_;
    return c;
  }

  void value(char letter) {
    uint64_t word = *words_++;
    bool unread = *bad_++ != 0;
    if (letter == abi::kTextIf) return choose(word != 0 && !unread);
    if (letter == abi::kTextBytes) {
      bool to_nul = take() == 'z';
      uint64_t bytes = *words_++;
      unread |= *bad_++ != 0;
      unread = unread || !out_.string(word, bytes, to_nul);
    } else if (letter == abi::kTextWide || letter == abi::kTextWideUnsigned) {
      uint64_t high = *words_++;
      unread |= *bad_++ != 0;
      bool negative = letter == abi::kTextWide && high >> 63 != 0;
      if (!unread) out_.wide(word, high, negative);
    } else if (letter == abi::kTextWord) {
      name(static_cast<int64_t>(word), unread);
    } else if (!unread) {
      plain(letter, word);
    }
    if (unread) out_.put('?');
  }

  void plain(char letter, uint64_t word) {
    switch (letter) {
      case abi::kTextSigned:
        out_.signed_number(static_cast<int64_t>(word));
        break;
      case abi::kTextUnsigned:
        out_.number(word, 10, false);
        break;
      case abi::kTextChar:
        out_.character(static_cast<char>(word));
        break;
      case abi::kTextString:
        if (!out_.string(word, kNoLimit, true)) out_.hex(word);
        break;
      case abi::kTextFloat:
        out_.real(abi::double_of_float(static_cast<uint32_t>(word)));
        break;
      case abi::kTextDouble:
        out_.real(word);
        break;
      default:
        out_.hex(word);
        break;
    }
  }

  uint32_t decimal() {
    uint32_t number = 0;
    for (char c = take(); c >= '0' && c <= '9'; c = take())
      number = number * 10 + static_cast<uint32_t>(c - '0');
    return number;
  }

  // "2,17;": what follows holds only if `wanted`.
  void choose(bool wanted) {
    uint32_t words = decimal(), bytes = decimal();
    if (wanted) return;
    words_ += words;
    bad_ += words;
    at_ += bytes;
  }

  // "5=GREEN;-7=BLUE;%;": prints the word of `value`.
  void name(int64_t value, bool unread) {
    bool found = unread;
    while (at_ < format_->len && peek() != '%') {
      bool negative = peek() == '-';
      if (negative) take();
      uint64_t number = 0;
      while (peek() >= '0' && peek() <= '9')
        number = number * 10 + static_cast<uint64_t>(take() - '0');
      if (negative) number = 0 - number;
      take();  // '='
      bool wanted = !found && number == static_cast<uint64_t>(value);
      for (char c = take(); c != ';' && at_ <= format_->len; c = take()) {
        if (wanted) out_.put(c);
      }
      found |= wanted;
    }
    at_ += 2;  // "%;"
    if (!found) out_.signed_number(value);
  }

  const abi::Str* format_;
  const uint64_t* words_;
  const uint32_t* bad_;
  Text& out_;
  uint32_t at_ = 0;
};

}  // namespace

const abi::Str* dj_target_text(abi::Context* ctx, const abi::Str* format, const uint64_t* words,
                               const uint32_t* bad) {
  abi::Str* made = agent::string_room(ctx);
  if (made == nullptr) {
    agent::count_skip(abi::kSkipStringBudget);
    return agent::empty_string();
  }
  Text out(made, agent::arena()->max_string);
  Writer(format, words, bad, out).run();
  return out.finish(ctx);
}
