// SPDX-License-Identifier: Apache-2.0
// Reads DW_AT_language of the unit.
#include "compiler/debuginfo/languages.h"

#include <dwarf.h>

#include <cstdlib>

#include "compiler/debuginfo/ada_names.h"
#include "compiler/debuginfo/dwarf_index.h"

namespace dj {

namespace {

uint64_t language_of(Dwarf_Die* die) {
  Dwarf_Die unit;
  return dwarf_diecu(die, &unit, nullptr, nullptr) ? number(&unit, DW_AT_language).value_or(0) : 0;
}

bool is_boolean(Dwarf_Die* type) {
  return dwarf_tag(type) == DW_TAG_base_type &&
         number(type, DW_AT_encoding) == uint64_t{DW_ATE_boolean};
}

// GNAT's enumerator: the last component; of a character that is no lower case letter its code.
std::string ada_enumerator(const std::string& name) {
  const size_t mark = name.rfind("__");
  std::string last = mark == std::string::npos ? name : name.substr(mark + 2);
  if (last.starts_with("QU") && last.size() > 2) {
    const long code = std::strtol(last.c_str() + 2, nullptr, 16);
    return code < 0x80 ? std::string{'\'', char(code), '\''} : last;
  }
  return last.size() == 2 && last[0] == 'Q' ? std::string{'\'', last[1], '\''} : last;
}

}  // namespace

bool is_fortran(Dwarf_Die* die) {
  switch (language_of(die)) {
    case DW_LANG_Fortran77:
    case DW_LANG_Fortran90:
    case DW_LANG_Fortran95:
    case DW_LANG_Fortran03:
    case DW_LANG_Fortran08:
      return true;
    default:
      return false;
  }
}

bool is_ada(Dwarf_Die* die) {
  const uint64_t language = language_of(die);
  return language == DW_LANG_Ada83 || language == DW_LANG_Ada95;
}

bool ignores_case(Dwarf_Die* die) { return is_fortran(die) || is_ada(die); }

std::string in_lower_case(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? char(c | 32) : c;
  return text;
}

int64_t first_subscript(Dwarf_Die* array) {
  switch (language_of(array)) {
    case DW_LANG_Cobol74:
    case DW_LANG_Cobol85:
    case DW_LANG_Modula2:
    case DW_LANG_Pascal83:
    case DW_LANG_PLI:
      return 1;
    default:
      return is_fortran(array) || is_ada(array) ? 1 : 0;
  }
}

bool is_parent(Dwarf_Die* member, Dwarf_Die* type) {
  const std::string name = die_name(member);
  return (name == die_name(type) && is_fortran(member)) || (name == "_parent" && is_ada(member));
}

bool is_tag(Dwarf_Die* member) { return die_name(member) == "_tag" && is_ada(member); }

bool is_array_pair(Dwarf_Die* type) {
  if (dwarf_tag(type) != DW_TAG_structure_type || !flag(type, DW_AT_artificial) || !is_ada(type))
    return false;
  size_t pointers = 0;
  for (Dwarf_Die& child : children(type))
    pointers += die_name(&child) == "P_ARRAY" || die_name(&child) == "P_BOUNDS";
  return pointers == 2;
}

ValueNames truth_names(Dwarf_Die* type) {
  if (!is_boolean(type)) return {};
  if (is_fortran(type)) return {{0, ".FALSE."}, {1, ".TRUE."}};
  if (is_ada(type) || language_of(type) == DW_LANG_D) return {{0, "false"}, {1, "true"}};
  return {};
}

ValueNames enumerators(Dwarf_Die* enumeration) {
  ValueNames names;
  const bool ada = is_ada(enumeration);
  for (Dwarf_Die& child : children(enumeration)) {
    std::optional<Dwarf_Attribute> attr = attribute(&child, DW_AT_const_value);
    const bool enumerator = dwarf_tag(&child) == DW_TAG_enumerator && attr;
    if (std::optional<int64_t> value = enumerator ? signed_number(&*attr) : std::nullopt) {
      const std::string name = die_name(&child);
      names.push_back({*value, ada ? ada_enumerator(name) : name});
    }
  }
  return names;
}

std::string type_name_of(Dwarf_Die* die, std::string name) {
  if (name.find("__") == std::string::npos || !is_ada(die)) return name;
  const std::string decoded = ada_name(name);
  return decoded.empty() ? name : decoded;
}

}  // namespace dj
