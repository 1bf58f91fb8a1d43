// SPDX-License-Identifier: Apache-2.0
// The part of GNAT's encoding that functions have (exp_dbug.ads): two underscores for a dot, a
// number for one of several of a name, words for operators.
#include "compiler/debuginfo/ada_names.h"

#include <algorithm>
#include <utility>

#include "compiler/debuginfo/demangle.h"

namespace dj {

namespace {

constexpr std::string_view kLibraryLevel = "_ada_", kTaskBody = "TKB";
constexpr std::pair<std::string_view, std::string_view> kOperators[] = {
    {"Oabs", "abs"},  {"Oand", "and"},    {"Omod", "mod"},  {"Onot", "not"}, {"Oor", "or"},
    {"Orem", "rem"},  {"Oxor", "xor"},    {"Oeq", "="},     {"One", "/="},   {"Olt", "<"},
    {"Ole", "<="},    {"Ogt", ">"},       {"Oge", ">="},    {"Oadd", "+"},   {"Osubtract", "-"},
    {"Oconcat", "&"}, {"Omultiply", "*"}, {"Odivide", "/"}, {"Oexpon", "**"}};

std::string component_name(std::string_view word) {
  for (const auto& [encoded, name] : kOperators)
    if (word == encoded) return "\"" + std::string(name) + "\"";
  const bool lower = std::all_of(
      word.begin(), word.end(), [](char c) { return is_identifier(c) && !(c >= 'A' && c <= 'Z'); });
  return lower ? std::string(word) : "";
}

}  // namespace

std::string ada_name(std::string_view symbol) {
  symbol = symbol.substr(0, symbol.find('.'));
  if (symbol.starts_with(kLibraryLevel)) symbol.remove_prefix(kLibraryLevel.size());
  // Of tasks their bodies; of what is declared in a body, or nested in one, X with a letter each.
  if (symbol.ends_with(kTaskBody)) symbol.remove_suffix(kTaskBody.size());
  const size_t marks = symbol.find_last_not_of("bn");
  if (marks != std::string_view::npos && marks > 0 && symbol[marks] == 'X') {
    symbol = symbol.substr(0, marks);
  }
  std::string name;
  while (!symbol.empty()) {
    const size_t end = std::min(symbol.find("__", 1), symbol.size());
    const std::string_view word = symbol.substr(0, end);
    symbol.remove_prefix(std::min(end + 2, symbol.size()));
    if (!name.empty() && word.find_first_not_of("0123456789_") == std::string_view::npos) continue;
    const std::string part = component_name(word);
    if (part.empty()) return {};
    name += (name.empty() ? "" : ".") + part;
  }
  return name;
}

}  // namespace dj
