// SPDX-License-Identifier: Apache-2.0
// Looks at texts alone: at the symbol, and at the names that the file's dynamic symbols have.
#include "compiler/debuginfo/foreign_names.h"

#include <algorithm>

#include "compiler/debuginfo/demangle.h"
#include "compiler/debuginfo/pattern.h"

namespace dj {

namespace {

// What compilers of Fortran and Ada let every larger object call.
constexpr std::string_view kRunTimes[] = {"_gfortran_", "_FortranA", "__gnat_", "system__"};

bool is_nested(std::string_view symbol) {
  const size_t dot = symbol.find('.');
  return dot != std::string_view::npos && dot + 1 < symbol.size() && symbol[dot + 1] >= '0' &&
         symbol[dot + 1] <= '9';
}

bool may_be_foreign(std::string_view symbol) {
  if (symbol.starts_with("_ada_")) return true;
  if (symbol.starts_with('_')) return is_fortran(symbol);
  return symbol.find("__") != std::string_view::npos || is_nested(symbol) ||
         plain_symbol(symbol).ends_with('_');
}

bool is_worth_opening(const ObjectFile& elf) {
  if (elf.section(".debug_info") || elf.section(".zdebug_info")) return true;
  const Section* names = elf.section(".dynstr");
  if (!names) return false;
  const std::string_view text(reinterpret_cast<const char*>(names->bytes.data()),
                              names->bytes.size());
  return std::any_of(std::begin(kRunTimes), std::end(kRunTimes), [&](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  });
}

}  // namespace

bool may_have_foreign(const ObjectFile& elf, const std::vector<Symbol>& functions) {
  return is_worth_opening(elf) &&
         std::any_of(functions.begin(), functions.end(),
                     [](const Symbol& s) { return may_be_foreign(s.name); });
}

}  // namespace dj
