// SPDX-License-Identifier: Apache-2.0
// printable(): names, paths and texts that are not djtap's own, on their way to a terminal.
//
// An escape has one form. `\xHH` stands for a byte: a control character (C0, DEL), or a byte that
// is part of no UTF-8 character. `\uHHHH` stands for a character: a control character above U+007F
// (C1), a separator of lines, or one that changes the direction of writing. All other characters
// stay, backslashes too: a text that is escaped twice is escaped once.
#pragma once
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dj {

// A character of UTF-8: its code point, and its length in bytes. No bytes: the text begins with
// none (also overlong forms, surrogates, and what lies above U+10FFFF).
struct Character {
  uint32_t code = 0;
  size_t bytes = 0;
};

// The first character of `text`, which is not empty.
Character first_character(std::string_view text);

// Whether a terminal obeys this character instead of showing it.
bool is_command(uint32_t code);

// `text` with escapes, as one line: line feeds and tabs are escaped, too.
std::string printable(std::string_view text);
// The same of a text of several lines: its line feeds and tabs stay. Where they may be part of a
// name, the name goes through printable() before it becomes part of the text.
std::string printable_lines(std::string_view text);

// A piece of a script in one line: a line feed, with the blanks around it, becomes a blank.
std::string unwrapped(std::string_view text);

// What `format` gives, as one printable line with its line feed.
template <typename... Args>
std::string printable_line(fmt::format_string<Args...> format, Args&&... args) {
  return printable(fmt::format(format, std::forward<Args>(args)...)) + "\n";
}

// Writes a text of several lines, or what `format` gives as one line, on standard error. What
// standard error does not take is lost.
void log_lines(std::string_view text);
template <typename... Args>
void log_line(fmt::format_string<Args...> format, Args&&... args) {
  log_lines(printable_line(format, std::forward<Args>(args)...));
}

}  // namespace dj
