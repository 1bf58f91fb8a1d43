// SPDX-License-Identifier: Apache-2.0
// Built-ins on strings.
#include "runtime/agent/scratch.h"
#include "stdlib/entries.h"

using namespace dj;

namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Value of a digit in bases up to 36; 99: none.
uint32_t digit_of(char c) {
  if (c >= '0' && c <= '9') return static_cast<uint32_t>(c - '0');
  if (c >= 'a' && c <= 'z') return static_cast<uint32_t>(c - 'a') + 10;
  if (c >= 'A' && c <= 'Z') return static_cast<uint32_t>(c - 'A') + 10;
  return 99;
}

bool has_hex_prefix(abi::Text s, uint32_t at) {
  return at + 2 < s.len && s.data[at] == '0' && (s.data[at + 1] | 0x20) == 'x' &&
         digit_of(s.data[at + 2]) < 16;
}

}  // namespace

int64_t dj_strlen(const abi::Str* s) { return abi::text_of(s).len; }

// From `start`, at most `length` bytes; what lies outside of the string is left out.
const abi::Str* dj_substr(abi::Context* ctx, const abi::Str* whole, int64_t start, int64_t length) {
  const abi::Text s = abi::text_of(whole);
  if (start < 0 || length <= 0 || start >= s.len) return agent::empty_string();
  int64_t rest = s.len - start;
  return agent::make_string(ctx, s.data + start,
                            static_cast<uint64_t>(length < rest ? length : rest));
}

int64_t dj_isinstr(const abi::Str* whole, const abi::Str* wanted) {
  const abi::Text text = abi::text_of(whole), part = abi::text_of(wanted);
  for (uint32_t at = 0; at + part.len <= text.len; ++at) {
    if (abi::same_bytes(part, text.data + at, part.len)) return 1;
  }
  return 0;
}

// As C's strtol: blanks, sign, 0x and 0 prefixes with base 0 (0x with 16 too), stops at what is no
// digit, saturates.
int64_t dj_strtol(const abi::Str* text, int64_t base) {
  const abi::Text s = abi::text_of(text);
  uint32_t at = 0;
  while (at < s.len && is_space(s.data[at])) ++at;
  bool negative = at < s.len && s.data[at] == '-';
  if (at < s.len && (s.data[at] == '-' || s.data[at] == '+')) ++at;
  if ((base == 0 || base == 16) && has_hex_prefix(s, at)) {
    at += 2;
    base = 16;
  }
  if (base == 0) base = at < s.len && s.data[at] == '0' ? 8 : 10;
  if (base < 2 || base > 36) return 0;
  uint64_t limit = static_cast<uint64_t>(INT64_MAX) + negative, value = 0;
  for (; at < s.len && digit_of(s.data[at]) < base; ++at) {
    uint64_t digit = digit_of(s.data[at]);
    if (value > (limit - digit) / static_cast<uint64_t>(base)) {
      value = limit;
      break;
    }
    value = value * static_cast<uint64_t>(base) + digit;
  }
  return static_cast<int64_t>(negative ? 0 - value : value);
}

int64_t dj_isdigit(const abi::Str* text) {
  const abi::Text s = abi::text_of(text);
  return s.len > 0 && digit_of(s.data[0]) < 10;
}

// The byte there, 0 to 255; 0 outside of the string.
int64_t dj_stringat(const abi::Str* text, int64_t at) {
  const abi::Text s = abi::text_of(text);
  return at < 0 || at >= s.len ? 0 : static_cast<uint8_t>(s.data[at]);
}

// Every occurrence from the left, none of them overlapping.
const abi::Str* dj_str_replace(abi::Context* ctx, const abi::Str* whole, const abi::Str* wanted,
                               const abi::Str* instead) {
  const abi::Text text = abi::text_of(whole), search = abi::text_of(wanted);
  const abi::Text replacement = abi::text_of(instead);
  abi::Str* made = agent::string_room(ctx);
  if (made == nullptr) {
    agent::count_skip(abi::kSkipStringBudget);
    return agent::empty_string();
  }
  uint32_t used = 0, max = agent::arena()->max_string;
  bool cut = false;
  for (uint32_t at = 0; at < text.len && !cut;) {
    bool found = search.len > 0 && search.len <= text.len - at &&
                 abi::same_bytes(search, text.data + at, search.len);
    const char* from = found ? replacement.data : text.data + at;
    uint32_t bytes = found ? replacement.len : 1;
    cut = bytes > max - used;
    if (cut) bytes = max - used;
    for (uint32_t i = 0; i < bytes; ++i) made->data[used++] = from[i];
    at += found ? search.len : 1;
  }
  if (cut) agent::count_skip(abi::kSkipStringCut);
  made->len = used;
  return used == 0 ? agent::empty_string() : agent::keep_string(ctx, made);
}
