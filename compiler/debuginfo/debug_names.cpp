// SPDX-License-Identifier: Apache-2.0
// Goes from a function's declaration through the DIEs around it. Inline namespaces have
// DW_AT_export_symbols.
#include "compiler/debuginfo/debug_names.h"

#include <algorithm>
#include <cstdlib>

#include "compiler/debuginfo/dwarf_index.h"

namespace dj {

namespace {

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
  const int code = dwarf_srclang(&unit);
  switch (language) {
    case NameMatcher::Language::Any:
      return true;
    case NameMatcher::Language::Ada:
      return code == DW_LANG_Ada83 || code == DW_LANG_Ada95;
    case NameMatcher::Language::Fortran:
      return code == DW_LANG_Fortran77 || code == DW_LANG_Fortran90 || code == DW_LANG_Fortran95 ||
             code == DW_LANG_Fortran03 || code == DW_LANG_Fortran08;
  }
  return false;
}

}  // namespace

std::string debug_name(Dwarf_Die function) {
  std::string name;
  for (Dwarf_Die& die : declared_in(function)) {
    const std::string part = dwarf_tag(&die) == DW_TAG_compile_unit ? "" : die_name(&die);
    if (!part.empty()) name = part + (name.empty() ? "" : "::") + name;
  }
  return name;
}

bool is_as_meant(const NameMatcher::Meaning& meaning, Dwarf_Die function) {
  if (meaning.if_inline.empty() && meaning.if_in == NameMatcher::Language::Any) return true;
  std::vector<Dwarf_Die> scopes = declared_in(function);
  const auto is_inline = [&](const std::string& name) {
    return std::any_of(scopes.begin(), scopes.end(), [&](Dwarf_Die& die) {
      return dwarf_tag(&die) == DW_TAG_namespace && flag(&die, DW_AT_export_symbols) &&
             die_name(&die) == name;
    });
  };
  return !scopes.empty() && is_in(meaning.if_in, scopes.back()) &&
         std::all_of(meaning.if_inline.begin(), meaning.if_inline.end(), is_inline);
}

}  // namespace dj
