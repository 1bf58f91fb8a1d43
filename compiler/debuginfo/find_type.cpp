// SPDX-License-Identifier: Apache-2.0
// Finds types by the names that people write in casts.
#include <algorithm>
#include <sstream>
#include <string>

#include "compiler/debuginfo/struct_name.h"
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

// C lets the words of an arithmetic type stand in any order and leaves some out: "unsigned long" is
// "long unsigned int" in gcc's debug info and "unsigned long" in clang's. One spelling for each,
// with the '*' behind it; empty: no such type.
std::string one_spelling(const std::string& name) {
  const size_t stars = std::min(name.find('*'), name.size());
  std::istringstream words(name.substr(0, stars));
  std::string text, kind, longs;
  bool is_signed = false, any = false;
  for (std::string word; words >> word; any = true) {
    if (word == "unsigned") {
      text = "unsigned ";
    } else if (word == "long") {
      longs += "long ";
    } else if (word == "short" || word == "char" || word == "double" || word == "__int128") {
      kind = word;
    } else if (word == "signed") {
      is_signed = true;
    } else if (word != "int") {
      return {};
    }
  }
  if (!any) {
    return {};
  }
  if (is_signed && kind == "char") {
    kind = "signed char";
  }
  return text + longs + (kind.empty() && longs.empty() ? "int" : kind) + name.substr(stars);
}

// A type's name as it is looked for.
struct Wanted {
  std::string name, spelling;
  bool is_pointer = false;

  explicit Wanted(const std::string& text)
      : name(text), spelling(one_spelling(text)), is_pointer(text.find('*') != std::string::npos) {}
  bool is(const Dwarf_Die& type, const std::string& plain) const {
    const int tag = dwarf_tag(const_cast<Dwarf_Die*>(&type));
    if (spelling.empty() || tag == DW_TAG_typedef) {
      return plain == name ||
             (name.find_first_of(" *") != std::string::npos && type_name(type) == name);
    }
    return tag == (is_pointer ? DW_TAG_pointer_type : DW_TAG_base_type) &&
           one_spelling(type_name(type)) == spelling;
  }
};

// The type of that name directly in `parent` or in its namespaces and classes.
TypeDie find_in(Dwarf_Die* parent, const Wanted& wanted) {
  for (Dwarf_Die& child : children(parent)) {
    const int tag = dwarf_tag(&child);
    const std::string bare = die_name(&child);
    const bool is_template = wanted.name.starts_with(bare + "<");  // its name may lack arguments
    const std::string plain = is_template ? struct_name(&child) : bare;
    const bool completes = dwarf_hasattr(&child, DW_AT_specification) != 0;  // in a type unit
    const bool may_be = completes && wanted.name.ends_with("::" + plain);
    const std::string whole = may_be ? scopes_of(&child) + plain : plain;
    if (is_type(tag) && !is_declaration(&child) && wanted.is(child, whole)) {
      return child;
    }
    const bool scope =
        tag == DW_TAG_namespace || tag == DW_TAG_structure_type || tag == DW_TAG_class_type;
    const std::string prefix = plain + "::";
    if (scope && !plain.empty() && wanted.name.starts_with(prefix)) {
      if (TypeDie inner = find_in(&child, Wanted(wanted.name.substr(prefix.size())))) {
        return inner;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

TypeDie find_type(const std::string& name, DwarfIndex& index, uint64_t pc) {
  const Wanted wanted(normal(name));
  if (std::optional<Dwarf_Die> unit = index.unit_at(pc)) {
    if (TypeDie type = find_in(&*unit, wanted)) {
      return type;
    }
  }
  for (Dwarf_Die unit : index.units_of_types()) {
    if (TypeDie type = find_in(&unit, wanted)) {
      return type;
    }
  }
  return std::nullopt;
}

std::optional<CastType> find_cast_type(const std::string& name, DwarfIndex& index, uint64_t pc) {
  CastType found;
  std::string rest = normal(name);
  for (;; found.pointers++) {
    found.type = find_type(rest, index, pc);
    if (found.type || (rest == "void" && found.pointers > 0)) {
      return found;
    }
    if (!rest.ends_with('*')) {
      break;
    }
    rest = normal(rest.substr(0, rest.size() - 1));
  }
  for (const std::string& word : {std::string("const "), std::string("volatile ")}) {
    if (rest.starts_with(word)) {
      return find_cast_type(normal(name).substr(word.size()), index, pc);
    }
  }
  return std::nullopt;
}

}  // namespace dj
