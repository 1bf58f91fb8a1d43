// Finds types by the names that people write in casts.
#include <algorithm>

#include "compiler/debuginfo/types.h"

namespace dj {

namespace {

bool is_type(int tag) {
  switch (tag) {
    case DW_TAG_base_type:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_typedef:
    case DW_TAG_pointer_type:
      return true;
    default:
      return false;
  }
}

// "struct  point *" as type_name() writes it: "struct point*".
std::string normal(const std::string& name) {
  std::string text;
  for (char c : name) {
    const bool space = c == ' ' || c == '\t';
    if (c == '*') {
      while (!text.empty() && text.back() == ' ') {
        text.pop_back();
      }
    }
    if (!space || (!text.empty() && text.back() != ' ')) {
      text += space ? ' ' : c;
    }
  }
  while (!text.empty() && text.back() == ' ') {
    text.pop_back();
  }
  return text;
}

bool is_declaration(Dwarf_Die* die) {
  bool declared = false;
  Dwarf_Attribute attr;
  return dwarf_attr(die, DW_AT_declaration, &attr) && dwarf_formflag(&attr, &declared) == 0 &&
         declared;
}

// The type called `name` directly in `parent` or in its namespaces and classes.
TypeDie find_in(Dwarf_Die* parent, const std::string& name) {
  for (Dwarf_Die& child : children(parent)) {
    const int tag = dwarf_tag(&child);
    const std::string plain = die_name(&child);
    if (is_type(tag) && !is_declaration(&child) &&
        (plain == name ||
         (name.find_first_of(" *") != std::string::npos && type_name(child) == name))) {
      return child;
    }
    const bool scope =
        tag == DW_TAG_namespace || tag == DW_TAG_structure_type || tag == DW_TAG_class_type;
    const std::string prefix = plain + "::";
    if (scope && !plain.empty() && name.starts_with(prefix)) {
      if (TypeDie inner = find_in(&child, name.substr(prefix.size()))) {
        return inner;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

TypeDie find_type(const std::string& name, DwarfIndex& index, uint64_t pc) {
  const std::string wanted = normal(name);
  if (std::optional<Dwarf_Die> unit = index.unit_at(pc)) {
    if (TypeDie type = find_in(&*unit, wanted)) {
      return type;
    }
  }
  for (Dwarf_Die unit : index.units()) {
    if (TypeDie type = find_in(&unit, wanted)) {
      return type;
    }
  }
  return std::nullopt;
}

}  // namespace dj
