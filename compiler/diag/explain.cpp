// SPDX-License-Identifier: Apache-2.0
// Two tables, codes.def and examples.def, as text for people.
#include "compiler/diag/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <vector>

namespace dj {
namespace {

struct CodeText {
  std::string_view code, text;
};
constexpr CodeText kCodeTexts[] = {
#define DJ_CODE(code, text) {#code, text},
#include "compiler/diag/codes.def"
#undef DJ_CODE
};

struct Example {
  std::string_view code, wrong, right;
};
constexpr Example kExamples[] = {
#define DJ_EXAMPLE(code, wrong, right) {#code, wrong, right},
#include "compiler/diag/examples.def"
#undef DJ_EXAMPLE
};

// Who finds a mistake, by the first digit of its code.
std::string_view stage_of(std::string_view code) {
  switch (code[2]) {
    case '0':
      return "found while the command line is read";
    case '1':
      return "found while the script is parsed";
    case '2':
      return "found while names and types are checked";
    case '4':
      return "found while probes are put into the process";
    case '5':
      return "found while the session runs";
    default:
      return "found while the script meets the program to trace";
  }
}

// "dj2001" and "2001" are DJ2001.
std::string full_code(std::string_view word) {
  std::string code(word);
  std::transform(code.begin(), code.end(), code.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return code.starts_with("DJ") ? code : "DJ" + code;
}

std::string text_of(const CodeText& row) {
  bool warning = row.code.substr(3, 1) == "9";
  std::string text = fmt::format("{}, {} {}\n\n{}\n", row.code, warning ? "a warning" : "an error",
                                 stage_of(row.code), row.text);
  for (const Example& example : kExamples) {
    if (example.code == row.code)
      text += fmt::format("\n  wrong:  {}\n  right:  {}\n", example.wrong, example.right);
  }
  return text;
}

bool is_number(std::string_view digits) {
  return !digits.empty() &&
         std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// The three codes whose numbers are nearest; the range when `code` has no number.
std::string near_codes(const std::string& code) {
  std::vector<std::string_view> codes;
  for (const CodeText& row : kCodeTexts) codes.push_back(row.code);
  if (!is_number(code.substr(2)) || code.size() > 8) {
    return fmt::format("codes go from {} to {}", codes.front(), codes.back());
  }
  int wanted = std::atoi(code.c_str() + 2);
  auto distance = [wanted](std::string_view other) {
    return std::abs(std::atoi(other.data() + 2) - wanted);
  };
  std::stable_sort(codes.begin(), codes.end(),
                   [&](auto a, auto b) { return distance(a) < distance(b); });
  codes.resize(std::min<size_t>(3, codes.size()));
  std::sort(codes.begin(), codes.end());
  return fmt::format("near it are {}", fmt::join(codes, ", "));
}

}  // namespace

Result<std::string> explain(std::string_view word) {
  std::string code = full_code(word);
  for (const CodeText& row : kCodeTexts) {
    if (row.code == code) return text_of(row);
  }
  return Error{fmt::format("there is no code {}; {}", code, near_codes(code))};
}

}  // namespace dj
