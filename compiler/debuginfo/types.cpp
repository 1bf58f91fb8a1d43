// SPDX-License-Identifier: Apache-2.0
// Walks type DIEs.
#include "compiler/debuginfo/types.h"

#include <fmt/format.h>

#include "compiler/debuginfo/languages.h"
#include "compiler/debuginfo/part_offset.h"
#include "compiler/debuginfo/pattern.h"
#include "compiler/debuginfo/struct_name.h"
#include "compiler/debuginfo/walk_limits.h"

namespace dj {

namespace {

using As = TargetText::Item::As;

bool is_qualifier(int tag) {
  return tag == DW_TAG_const_type || tag == DW_TAG_volatile_type || tag == DW_TAG_restrict_type ||
         tag == DW_TAG_atomic_type;
}

bool is_whole_number(TypeDie type) {
  const uint64_t encoding = type ? number(&*type, DW_AT_encoding).value_or(0) : 0;
  return type && ((dwarf_tag(&*type) == DW_TAG_base_type &&
                   (encoding == DW_ATE_signed || encoding == DW_ATE_unsigned)) ||
                  dwarf_tag(&*type) == DW_TAG_subrange_type);
}

struct Dimension {
  Dwarf_Die die;
  int64_t lower = 0;
  uint64_t count = 0;
};

// The bounds of each dimension; count 0: an open one, or one that is computed.
std::vector<Dimension> dimensions(Dwarf_Die* array) {
  std::vector<Dimension> all;
  const int64_t first = first_subscript(array);
  for (Dwarf_Die& child : children(array)) {
    if (dwarf_tag(&child) != DW_TAG_subrange_type) {
      continue;
    }
    Dimension dimension{child};
    const std::optional<uint64_t> lower = number(&child, DW_AT_lower_bound);
    dimension.lower = int64_t(lower.value_or(uint64_t(first)));
    const bool begins = lower || !attribute(&child, DW_AT_lower_bound);
    if (std::optional<uint64_t> n = number(&child, DW_AT_count)) {
      dimension.count = *n;
    } else if (std::optional<uint64_t> last = number(&child, DW_AT_upper_bound); last && begins) {
      const auto count = int64_t(*last + 1 - uint64_t(dimension.lower));
      dimension.count = uint64_t(std::max<int64_t>(count, 0));
    }
    all.push_back(dimension);
  }
  return all;
}

std::string array_name(Dwarf_Die* array) {
  std::string text = type_name(type_of(array));
  for (const Dimension& d : dimensions(array)) {
    text += "[" + (d.count ? std::to_string(d.count) : "") + "]";
  }
  return text;
}

std::string function_name(Dwarf_Die* function, const std::string& middle) {
  std::string text = type_name(type_of(function)) + (middle.empty() ? " (" : " (" + middle + ")(");
  bool first = true;
  for (Dwarf_Die& child : children(function)) {
    if (dwarf_tag(&child) == DW_TAG_formal_parameter) {
      text += (first ? "" : ", ") + type_name(type_of(&child));
      first = false;
    }
  }
  return text + ")";
}

std::string pointer_name(Dwarf_Die* pointer, const char* mark) {
  TypeDie target = type_of(pointer);
  if (target && dwarf_tag(&*target) == DW_TAG_subroutine_type) {
    return function_name(&*target, mark);
  }
  return type_name(target) + mark;
}

// Bit-fields: DW_AT_data_bit_offset counts from the struct's beginning; the older DW_AT_bit_offset
// from the high end of the storage unit.
void place_bits(Member& member) {
  member.bit_size = number(&member.die, DW_AT_bit_size);
  if (!member.bit_size) {
    return;
  }
  if (std::optional<uint64_t> from = number(&member.die, DW_AT_data_bit_offset)) {
    member.bit_offset = *from;
  } else if (std::optional<uint64_t> high = number(&member.die, DW_AT_bit_offset)) {
    uint64_t unit = number(&member.die, DW_AT_byte_size).value_or(0);
    if (unit == 0) {
      TypeDie type = type_of(&member.die);
      unit = type ? type_size(&*type) : 4;
    }
    member.bit_offset = member.offset * 8 + unit * 8 - *high - *member.bit_size;
  } else {
    member.bit_offset = member.offset * 8;
  }
}

// `part` of the base or of the struct without a name that `child` is, seen from around `child`.
Member seen_from_outside(Dwarf_Die& child, Member part) {
  const std::optional<uint64_t> offset = part_offset(&child);
  if (is_virtual_base(&child) || !offset) {
    part.bases.insert(part.bases.begin(), VirtualBase{0, child});
    return part;
  }
  if (part.bases.empty()) {
    part.offset += *offset;
    part.bit_offset += *offset * 8;
  } else {
    part.bases.front().offset += *offset;
  }
  return part;
}

}  // namespace

bool is_virtual_base(Dwarf_Die* child) {
  return dwarf_tag(child) == DW_TAG_inheritance &&
         number(child, DW_AT_virtuality).value_or(0) != DW_VIRTUALITY_none;
}

Member direct_member(const Dwarf_Die& child) {
  Member member{child};
  const std::optional<uint64_t> offset = part_offset(&member.die);
  member.offset = offset.value_or(0);
  if (!offset) member.bases.push_back({0, child});
  place_bits(member);
  return member;
}

// gcc's -fdebug-types-section leaves a nameless entry for a type that has a unit of its own.
TypeDie type_of(Dwarf_Die* die) {
  TypeDie type = referred(die, DW_AT_type);
  TypeDie whole = type ? referred(&*type, DW_AT_signature) : std::nullopt;
  return whole ? whole : type;
}

TypeDie strip_type(TypeDie type, DwarfIndex& index) {
  for (int depth = 0; type && depth < 64; depth++) {
    const int tag = dwarf_tag(&*type);
    if (is_qualifier(tag) || tag == DW_TAG_typedef ||
        (tag == DW_TAG_subrange_type && !is_whole_number(type_of(&*type)))) {
      type = type_of(&*type);
    } else if (is_declaration(&*type)) {
      TypeDie whole = referred(&*type, DW_AT_signature);
      if (!whole) {
        whole = index.complete_type(&*type);
      }
      return whole ? whole : type;
    } else {
      return type;
    }
  }
  return type;
}

std::string type_name(TypeDie type) {
  if (!type) {
    return "void";
  }
  const std::string name = type_name_of(&*type, struct_name(&*type));
  auto tagged = [&](const std::string& keyword) {
    return keyword + " " + (name.empty() ? "{...}" : name);
  };
  switch (dwarf_tag(&*type)) {
    case DW_TAG_pointer_type:
      return pointer_name(&*type, "*");
    case DW_TAG_reference_type:
      return pointer_name(&*type, "&");
    case DW_TAG_rvalue_reference_type:
      return pointer_name(&*type, "&&");
    case DW_TAG_structure_type:
      return tagged("struct");
    case DW_TAG_class_type:
      return tagged("class");
    case DW_TAG_union_type:
      return tagged("union");
    case DW_TAG_enumeration_type:
      return tagged("enum");
    case DW_TAG_array_type:
      return array_name(&*type);
    case DW_TAG_string_type:
      return "character";
    case DW_TAG_subroutine_type:
      return function_name(&*type, "");
    case DW_TAG_const_type:
    case DW_TAG_volatile_type: {
      const char* word = dwarf_tag(&*type) == DW_TAG_const_type ? "const" : "volatile";
      TypeDie inner = type_of(&*type);
      std::string text = type_name(inner);
      const bool behind = inner && dwarf_tag(&*inner) == DW_TAG_pointer_type;
      if (text.starts_with(word)) return text;  // an array of const elements is const itself
      return behind ? text + " " + word : std::string(word) + " " + text;
    }
    case DW_TAG_restrict_type:
    case DW_TAG_atomic_type:
      return type_name(type_of(&*type));
    case DW_TAG_subrange_type:
      return name.empty() ? type_name(type_of(&*type)) : name;
    default:
      return name.empty() ? "?" : name;
  }
}

uint64_t type_size(Dwarf_Die* type) {
  Dwarf_Word size = 0;
  return !is_endless(type) && dwarf_aggregate_size(type, &size) == 0 ? size : 0;
}

bool is_pointer(Dwarf_Die* stripped) { return dwarf_tag(stripped) == DW_TAG_pointer_type; }

bool is_reference(Dwarf_Die* stripped) {
  const int tag = dwarf_tag(stripped);
  return tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
}

bool is_struct(Dwarf_Die* stripped) {
  const int tag = dwarf_tag(stripped);
  return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

bool is_array(Dwarf_Die* stripped) { return dwarf_tag(stripped) == DW_TAG_array_type; }

bool is_unit(Dwarf_Die* stripped) {
  return dwarf_tag(stripped) == DW_TAG_base_type && type_size(stripped) == 0;
}

bool is_fixed_point(Dwarf_Die* stripped) {
  const uint64_t encoding = number(stripped, DW_AT_encoding).value_or(0);
  return dwarf_tag(stripped) == DW_TAG_base_type &&
         (encoding == DW_ATE_signed_fixed || encoding == DW_ATE_unsigned_fixed);
}

bool is_string(Dwarf_Die* stripped) { return dwarf_tag(stripped) == DW_TAG_string_type; }

bool is_extended(Dwarf_Die* stripped) {
  const std::string name = type_name(*stripped);
  return type_size(stripped) == kExtendedBytes &&
         number(stripped, DW_AT_encoding) == uint64_t{DW_ATE_float} &&
         (name == "long double" || name == "real(kind=10)");
}

bool is_extended_complex(Dwarf_Die* stripped) {
  const std::string name = type_name(*stripped);
  return type_size(stripped) == 2 * kExtendedBytes &&
         number(stripped, DW_AT_encoding) == uint64_t{DW_ATE_complex_float} &&
         (name.find("long double") != std::string::npos || name == "complex(kind=10)" ||
          name == "complex");  // clang's
}

std::optional<Scalar> scalar_of(Dwarf_Die* stripped) {
  const uint64_t size = type_size(stripped);
  const uint8_t bytes = size == 0 || size > 16 ? 8 : uint8_t(size);
  switch (dwarf_tag(stripped)) {
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
    case DW_TAG_ptr_to_member_type:
    case DW_TAG_unspecified_type:  // nullptr_t
      return Scalar{8, false, false, As::Hex};
    case DW_TAG_enumeration_type: {
      TypeDie base = type_of(stripped);
      const uint64_t encoding =
          number(base ? &*base : stripped, DW_AT_encoding).value_or(base ? DW_ATE_signed : 0);
      const bool is_unsigned = encoding == DW_ATE_unsigned || encoding == DW_ATE_unsigned_char;
      return Scalar{bytes, !is_unsigned, false, is_unsigned ? As::Unsigned : As::Signed};
    }
    case DW_TAG_subrange_type: {
      TypeDie base = type_of(stripped);
      std::optional<Scalar> scalar = base ? scalar_of(&*base) : std::nullopt;
      if (!scalar || scalar->floating) return scalar;
      std::optional<Dwarf_Attribute> lower = attribute(stripped, DW_AT_lower_bound);
      const std::optional<int64_t> least = lower ? signed_number(&*lower) : std::nullopt;
      return Scalar{bytes, least.value_or(-1) < 0 && scalar->is_signed, false, scalar->as};
    }
    case DW_TAG_base_type:
      break;
    default:
      return std::nullopt;
  }
  switch (number(stripped, DW_AT_encoding).value_or(DW_ATE_unsigned)) {
    case DW_ATE_signed:
    case DW_ATE_signed_char:
    case DW_ATE_signed_fixed:
      return Scalar{bytes, true, false, As::Signed};
    case DW_ATE_float:
    case DW_ATE_complex_float:
    case DW_ATE_imaginary_float:
    case DW_ATE_decimal_float:
      return Scalar{bytes, true, true, As::Signed};
    case DW_ATE_address:
      return Scalar{bytes, false, false, As::Hex};
    default:
      return Scalar{bytes, false, false, As::Unsigned};
  }
}

std::vector<unsigned> inner_dimensions(Dwarf_Die* array, unsigned dimension) {
  const bool by_column = number(array, DW_AT_ordering) == uint64_t{DW_ORD_col_major};
  const size_t all = dimensions(array).size();
  std::vector<unsigned> inner;
  for (unsigned i = 0; i < all; i++) {
    if (by_column ? i < dimension : i > dimension) {
      inner.push_back(i);
    }
  }
  return inner;
}

Subscript subscript(Dwarf_Die* array, unsigned dimension, DwarfIndex& index) {
  Subscript result;
  TypeDie element = strip_type(type_of(array), index);
  result.stride = element ? type_size(&*element) : 1;
  const std::vector<Dimension> all = dimensions(array);
  for (const unsigned inner : inner_dimensions(array, dimension)) {
    result.stride *= all[inner].count;
  }
  result.dimension = dimension + 1;
  result.more = dimension + 1 < all.size();
  if (dimension < all.size()) {
    result.lower = all[dimension].lower;
    result.range = all[dimension].die;
  }
  return result;
}

uint64_t element_count(Dwarf_Die* array, unsigned dimension) {
  const std::vector<Dimension> all = dimensions(array);
  return dimension < all.size() ? all[dimension].count : 0;
}

std::vector<Member> all_members(Dwarf_Die* structure, DwarfIndex& index) {
  std::vector<Member> result;
  for (Dwarf_Die& child : children(structure)) {
    const int tag = dwarf_tag(&child);
    if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || flag(&child, DW_AT_external) ||
        flag(&child, DW_AT_declaration)) {
      continue;
    }
    TypeDie inner = strip_type(type_of(&child), index);
    const bool parent = inner && die_name(&child) == "_parent" && is_parent(&child, &*inner);
    const bool nameless = tag == DW_TAG_inheritance || die_name(&child).empty() || parent;
    if (is_tag(&child)) continue;
    if (!nameless) {
      result.push_back(direct_member(child));
    } else if (inner && is_struct(&*inner)) {
      for (Member& part : all_members(&*inner, index)) {
        result.push_back(seen_from_outside(child, std::move(part)));
      }
    }
  }
  return result;
}

namespace {

// In the struct and so many base classes deep; deeper: there are more.
std::optional<Member> find_within(Dwarf_Die* structure, const std::string& name, int bases,
                                  bool& deeper, DwarfIndex& index) {
  for (Dwarf_Die& child : children(structure)) {
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_variant_part || tag == DW_TAG_variant) {
      if (std::optional<Member> found = find_within(&child, name, bases, deeper, index)) {
        return found;
      }
    }
    if (tag != DW_TAG_member && tag != DW_TAG_inheritance) {
      continue;
    }
    if (flag(&child, DW_AT_external) || flag(&child, DW_AT_declaration)) {
      continue;  // a static member is no part of the object
    }
    const std::string child_name = die_name(&child);
    if (tag == DW_TAG_member && child_name == name) {
      return direct_member(child);
    }
    TypeDie inner = strip_type(type_of(&child), index);
    const bool nameless = tag == DW_TAG_member && child_name.empty();
    if (!inner || !is_struct(&*inner) ||
        (tag == DW_TAG_member && !nameless && !is_parent(&child, &*inner))) {
      continue;
    }
    if (!nameless && bases == 0) {
      deeper = true;
      continue;
    }
    if (std::optional<Member> found =
            find_within(&*inner, name, bases - !nameless, deeper, index)) {
      return seen_from_outside(child, std::move(*found));
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Member> find_member(Dwarf_Die* structure, const std::string& name,
                                  DwarfIndex& index) {
  bool deeper = true;
  for (int bases = 0; deeper; bases++) {
    deeper = false;
    if (std::optional<Member> found = find_within(structure, name, bases, deeper, index)) {
      return found;
    }
  }
  return std::nullopt;
}

std::vector<Variant> variants_of(Dwarf_Die* structure, std::optional<Member>& discriminant) {
  std::vector<Variant> result;
  for (Dwarf_Die& part : children(structure)) {
    if (dwarf_tag(&part) != DW_TAG_variant_part) {
      continue;
    }
    if (std::optional<Dwarf_Die> chooser = referred(&part, DW_AT_discr)) {
      discriminant = direct_member(*chooser);
    }
    for (Dwarf_Die& variant : children(&part)) {
      std::optional<Dwarf_Attribute> value = attribute(&variant, DW_AT_discr_value);
      Dwarf_Sword chosen_by = 0;
      for (Dwarf_Die& child : children(&variant)) {
        if (dwarf_tag(&child) == DW_TAG_member) {
          const bool known = value && dwarf_formsdata(&*value, &chosen_by) == 0;
          result.push_back({direct_member(child), known ? std::optional(chosen_by) : std::nullopt});
        }
      }
    }
  }
  return result;
}

std::optional<Member> find_base(Dwarf_Die* structure, const std::string& pattern,
                                DwarfIndex& index) {
  for (Dwarf_Die& child : children(structure)) {
    TypeDie inner =
        dwarf_tag(&child) == DW_TAG_inheritance ? strip_type(type_of(&child), index) : std::nullopt;
    if (!inner) {
      continue;
    }
    std::optional<Member> found = glob_match(pattern, struct_name(&*inner))
                                      ? std::optional(Member{child})
                                      : find_base(&*inner, pattern, index);
    if (found) {
      return seen_from_outside(child, std::move(*found));
    }
  }
  return std::nullopt;
}

std::string declared_at(Dwarf_Die* die) {
  const auto place = declaration_of(die);
  if (!place) {
    return {};
  }
  return place->first.substr(place->first.rfind('/') + 1) + ":" + std::to_string(place->second);
}

}  // namespace dj
