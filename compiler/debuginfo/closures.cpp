// SPDX-License-Identifier: Apache-2.0
// Where no other object can call a lambda, clang counts it among the unnamed types of its scope;
// the ABI's number counts those with the same parameters.
#include "compiler/debuginfo/closures.h"

#include <fmt/format.h>

#include <map>

#include "compiler/debuginfo/demangle.h"
#include "compiler/debuginfo/pattern.h"

namespace dj {

namespace {

constexpr std::string_view kNumbered = "$_";
constexpr std::string_view kCall = "::operator()(";

// Where the next "$_N" behind `from` ends; npos: there is none.
size_t end_of_number(std::string_view text, size_t from) {
  const size_t mark = text.find(kNumbered, from);
  if (mark == std::string_view::npos) return mark;
  return std::min(text.find_first_not_of("0123456789", mark + kNumbered.size()), text.size());
}

// "(int, char)" of "(int, char) const::...".
std::string_view brackets_at(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); i++) {
    depth += (text[i] == '(') - (text[i] == ')');
    if (depth == 0) return text.substr(open, i + 1 - open);
  }
  return {};
}

std::string demangled(std::string_view symbol) {
  return symbol.find(kNumbered) == std::string_view::npos ? "" : demangle(plain_symbol(symbol));
}

}  // namespace

ClosureNames::ClosureNames(const std::vector<Symbol>& functions) {
  std::map<std::pair<std::string, std::string>, std::map<uint64_t, std::string>> scopes;
  for (const Symbol& s : functions) {
    const std::string full = demangled(s.name);
    const DemangledName split = split_demangled(full);
    const std::string text = split.name + split.parameters;
    for (size_t end = end_of_number(text, 0); end != std::string::npos;
         end = end_of_number(text, end)) {
      if (text.compare(end, kCall.size(), kCall) != 0) continue;
      const size_t mark = text.rfind(kNumbered, end);
      const std::string_view parameters = brackets_at(text, end + kCall.size() - 1);
      const uint64_t number = std::stoull("0" + text.substr(mark + kNumbered.size(), 9));
      scopes[{text.substr(0, mark), std::string(parameters)}][number] = text.substr(0, end);
    }
  }
  for (const auto& [scope, closures] : scopes) {
    size_t number = 0;
    for (const auto& [order, name] : closures)
      names_[name] = fmt::format("{}{{lambda{}#{}}}", scope.first, scope.second, ++number);
  }
}

std::string ClosureNames::name_of(std::string_view symbol) const {
  const std::string full = demangled(symbol);
  const DemangledName split = split_demangled(full);
  std::string text = split.name + split.parameters + split.qualifiers;
  // From the innermost on: the names around it are those of the map's keys.
  bool known = false;
  for (size_t mark = text.rfind(kNumbered); mark != std::string::npos && mark > 0;
       mark = text.rfind(kNumbered, mark - 1)) {
    const auto found = names_.find(text.substr(0, end_of_number(text, mark)));
    if (found == names_.end()) continue;
    const size_t scope = found->second.rfind(kClosure);
    text.replace(mark, found->first.size() - mark, found->second.substr(scope));
    known = true;
  }
  return known ? text : "";
}

}  // namespace dj
