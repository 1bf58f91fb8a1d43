// SPDX-License-Identifier: Apache-2.0
// Regular expressions: a pattern of POSIX extended syntax (as egrep has it, without back references)
// to a program for the agent's matcher. [[:class:]] and ranges mean ASCII.
#pragma once
#include <string>
#include <string_view>
#include <variant>

namespace dj {

struct RegexMistake {
  size_t begin, end;  // bytes of the pattern
  std::string message;
};

// The program is what runtime/shared/regex.h describes.
std::variant<std::string, RegexMistake> compile_regex(std::string_view pattern);

}  // namespace dj
