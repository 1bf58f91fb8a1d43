// SPDX-License-Identifier: Apache-2.0
// UTF-8 character by character; what is none, and what terminals obey, is escaped.
#include "compiler/base/printable.h"

#include <algorithm>
#include <cstdio>

namespace dj {
namespace {

struct Range {
  uint32_t low, high;
};
// C0, DEL and C1; marks, separators, embeddings, overrides and isolates that move or reorder what
// stands around them.
constexpr Range kCommands[] = {{0x00, 0x1f},     {0x7f, 0x9f},     {0x61c, 0x61c},
                               {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069}};

bool is_plain(char c) { return c >= ' ' && c < 0x7f; }

std::string escaped(std::string_view text, std::string_view kept) {
  if (std::ranges::all_of(text, is_plain)) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const auto [code, bytes] = first_character(text);
    const size_t size = std::max<size_t>(bytes, 1);
    const std::string_view character = text.substr(0, size);
    if (bytes == 0 ||
        (code < 0x80 && is_command(code) && kept.find(character[0]) == std::string_view::npos))
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(character[0]));
    else if (code >= 0x80 && is_command(code))
      out += fmt::format("\\u{:04x}", code);
    else
      out += character;
    text.remove_prefix(size);
  }
  return out;
}

}  // namespace

Character first_character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return {first, 1};
  const size_t size = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (size == 0 || text.size() < size) return {};
  uint32_t code = first & (0xffu >> (size + 1));
  for (char c : text.substr(1, size - 1)) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xc0) != 0x80) return {};
    code = code << 6 | (byte & 0x3f);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xd800 && code < 0xe000;
  if (code < kLeast[size] || code > 0x10ffff || is_surrogate) return {};
  return {code, size};
}

bool is_command(uint32_t code) {
  return std::ranges::any_of(kCommands,
                             [&](const Range& r) { return code >= r.low && code <= r.high; });
}

std::string printable(std::string_view text) { return escaped(text, ""); }

std::string printable_lines(std::string_view text) { return escaped(text, "\n\t"); }

std::string unwrapped(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  std::string out;
  for (size_t end; (end = text.find('\n')) != std::string_view::npos;) {
    out += text.substr(0, text.find_last_not_of(kBlanks, end) + 1);
    out += ' ';
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks, end), text.size()));
  }
  return out.append(text);
}

void log_lines(std::string_view text) {
  const std::string shown = printable_lines(text);
  fwrite(shown.data(), 1, shown.size(), stderr);  // fmt::print() throws where stderr is full
}

}  // namespace dj
