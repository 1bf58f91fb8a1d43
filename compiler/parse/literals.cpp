// SPDX-License-Identifier: Apache-2.0
// Reading number and string literals.
#include "compiler/parse/literals.h"

#include <charconv>

namespace dj {

namespace {

bool is_octal(char c) { return c >= '0' && c <= '7'; }

int hex_digit(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// Up to `limit` digits of an escape at text[i...]; i ends behind them.
char read_code(std::string_view text, size_t& i, int base, int limit) {
  int value = 0;
  for (; limit > 0 && i < text.size(); --limit, ++i) {
    int digit = hex_digit(text[i]);
    if (digit < 0 || digit >= base) {
      break;
    }
    value = value * base + digit;
  }
  return static_cast<char>(value);
}

char simple_escape(char c) {
  switch (c) {
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'v':
      return '\v';
    default:
      return c;
  }
}

}  // namespace

std::variant<uint64_t, BadNumber> read_number(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  } else if (text.size() > 1 && text[0] == '0') {
    base = 8;
    text.remove_prefix(1);
  }
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) {
    return BadNumber::Malformed;
  }
  if (error == std::errc::result_out_of_range) {
    return BadNumber::TooLarge;
  }
  return value;
}

std::string decode_string(std::string_view literal) {
  std::string_view text = literal.substr(1, literal.size() - 2);
  std::string out;
  for (size_t i = 0; i < text.size();) {
    char c = text[i++];
    if (c != '\\' || i == text.size()) {
      out += c;
    } else if (is_octal(text[i])) {
      out += read_code(text, i, 8, 3);
    } else if (text[i] == 'x' && i + 1 < text.size() && hex_digit(text[i + 1]) >= 0) {
      out += read_code(text, ++i, 16, 2);
    } else {
      out += simple_escape(text[i++]);
    }
  }
  return out;
}

}  // namespace dj
