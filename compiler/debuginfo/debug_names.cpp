// SPDX-License-Identifier: Apache-2.0
// Goes from a function's declaration through the DIEs around it. Inline namespaces have
// DW_AT_export_symbols.
#include "compiler/debuginfo/debug_names.h"

#include <algorithm>
#include <cstdlib>

#include "compiler/debuginfo/ada_names.h"
#include "compiler/debuginfo/dwarf_index.h"
#include "compiler/debuginfo/languages.h"

namespace dj {

namespace {

constexpr std::string_view kFortranMain =
    "MAIN__";  // the symbol of what the source calls otherwise

// The DIE that stands where the source declares the function, and those around it, its unit last.
std::vector<Dwarf_Die> declared_in(Dwarf_Die function) {
  for (unsigned by : {DW_AT_abstract_origin, DW_AT_specification}) {
    if (std::optional<Dwarf_Die> other = referred(&function, by)) function = *other;
  }
  Dwarf_Die* scopes = nullptr;
  const int count = dwarf_getscopes_die(&function, &scopes);
  std::vector<Dwarf_Die> dies(scopes, scopes + std::max(count, 0));
  std::free(scopes);
  return dies;
}

bool is_in(NameMatcher::Language language, Dwarf_Die unit) {
  switch (language) {
    case NameMatcher::Language::Any:
      return true;
    case NameMatcher::Language::FortranOrAda:
      return is_foreign(unit);
    case NameMatcher::Language::Fortran:
      return is_fortran(&unit);
  }
  return false;
}

}  // namespace

bool is_foreign(Dwarf_Die unit) { return is_fortran(&unit) || is_ada(&unit); }

std::string debug_name(Dwarf_Die function) {
  std::string name;
  const bool fortran = is_fortran(&function);
  for (Dwarf_Die& die : declared_in(function)) {
    const std::string part = dwarf_tag(&die) == DW_TAG_compile_unit ? "" : die_name(&die);
    const bool contains = fortran && !name.empty() && dwarf_tag(&die) == DW_TAG_subprogram;
    if (!part.empty()) name = part + (name.empty() ? "" : "::") + name;
    if (contains) break;
  }
  return name;
}

std::string foreign_name(Dwarf_Die function, std::string_view symbol) {
  const std::string_view plain = plain_symbol(symbol);
  Dwarf_Die unit;
  if (!dwarf_diecu(&function, &unit, nullptr, nullptr)) return {};
  const std::string own = die_name(&function);
  const bool is_its = plain == linkage_name(&function) || plain == own || plain == own + "_";
  if (!is_its && plain != kFortranMain) return {};
  if (is_fortran(&unit)) return debug_name(function);
  return is_ada(&unit) ? ada_name(symbol) : "";
}

std::string shown_name(Dwarf_Die function, std::string_view symbol) {
  const std::string name = foreign_name(function, symbol);
  return name.empty() ? person_name(symbol) : name;
}

bool is_as_meant(const NameMatcher::Meaning& meaning, Dwarf_Die function) {
  Dwarf_Die unit;
  if (!dwarf_diecu(&function, &unit, nullptr, nullptr) || !is_in(meaning.if_in, unit)) return false;
  if (meaning.if_inline.empty()) return true;  // to look around a DIE takes all of its unit
  std::vector<Dwarf_Die> scopes = declared_in(function);
  const auto is_inline = [&](const std::string& name) {
    return std::any_of(scopes.begin(), scopes.end(), [&](Dwarf_Die& die) {
      return dwarf_tag(&die) == DW_TAG_namespace && flag(&die, DW_AT_export_symbols) &&
             die_name(&die) == name;
    });
  };
  return !scopes.empty() &&
         std::all_of(meaning.if_inline.begin(), meaning.if_inline.end(), is_inline);
}

}  // namespace dj
