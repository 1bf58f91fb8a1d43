// Built-ins that make text readable: escapes for what cannot be printed, quotes around it.
#include "runtime/agent/quote.h"
#include "runtime/agent/scratch.h"
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
    char text[4];
    uint32_t bytes = agent::escape(text, c);
    full_ = used_ + bytes + quoted_ > limit_;
    if (full_) return false;
    for (uint32_t i = 0; i < bytes; ++i) made_->data[used_++] = text[i];
    if (used_ + kCutBytes <= limit_) safe_ = used_;
    return true;
  }
  // goes_on: there is more text than was put.
  const abi::Str* finish(abi::Context* ctx, bool goes_on) {
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
  abi::Str* made_;
  uint32_t limit_, used_ = 0;
  uint32_t safe_;  // the last length with room for the dots behind it
  bool quoted_, full_ = false;
};

// What stands for a text that cannot be read.
const abi::Str* address_text(abi::Context* ctx, uint64_t address) {
  char text[18] = {'0', 'x'};
  uint32_t used = 2, digits = 1;
  while (digits < 16 && address >> 4 * digits != 0) ++digits;
  for (; digits-- > 0;) text[used++] = "0123456789abcdef"[address >> 4 * digits & 15];
  return agent::make_string(ctx, text, used);
}

const abi::Str* no_room() {
  agent::count_skip(abi::kSkipStringBudget);
  return agent::empty_string();
}

const abi::Str* quote_user(abi::Context* ctx, uint64_t address, uint64_t limit) {
  abi::Str* made = agent::string_room(ctx);
  uint32_t max = agent::arena()->max_string;
  if (made == nullptr || max < kCutBytes + 1) return no_room();
  Quoter quoter(made, max, true);
  agent::UserBytes bytes(address);
  for (uint64_t i = 0;; ++i) {
    char c = '\0';
    bool readable = bytes.next(&c);
    if (i == limit) return quoter.finish(ctx, readable && c != '\0');
    if (!readable) return address_text(ctx, address);
    if (c == '\0') return quoter.finish(ctx, false);
    if (!quoter.put(c)) return quoter.finish(ctx, true);
  }
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
  for (uint32_t i = 0; i < s->len && quoter.put(s->data[i]);) ++i;
  return quoter.finish(ctx, false);
}

const abi::Str* dj_user_string_quoted(abi::Context* ctx, int64_t address) {
  return quote_user(ctx, static_cast<uint64_t>(address), UINT64_MAX);
}
const abi::Str* dj_user_string_n_quoted(abi::Context* ctx, int64_t address, int64_t length) {
  return quote_user(ctx, static_cast<uint64_t>(address),
                    length <= 0 ? 0 : static_cast<uint64_t>(length));
}
