// SPDX-License-Identifier: Apache-2.0
// Sorts types as rustc does: one scalar, two scalars side by side, and whatever else fits, which
// goes through memory or through registers by rustc's version.
#include "compiler/debuginfo/rust_passing.h"

#include <algorithm>

#include "compiler/debuginfo/frame_places.h"
#include "compiler/debuginfo/location_lists.h"
#include "compiler/debuginfo/types.h"

namespace dj {

namespace {

constexpr uint64_t kOneWord = 8, kTwoWords = 16;

// The scalars of a struct, within each other; false: it has variants, arrays or parts unknown.
bool flatten(TypeDie type, std::vector<Scalar>& out, DwarfIndex& index, int depth = 0) {
  type = strip_type(type, index);
  std::optional<Member> discriminant;
  if (!type || depth > 8) {
    return false;
  }
  if (!is_struct(&*type)) {
    const std::optional<Scalar> scalar = scalar_of(&*type);
    if (!scalar) return type_size(&*type) == 0;
    out.push_back(*scalar);
    return true;
  }
  if (!variants_of(&*type, discriminant).empty()) {
    return false;
  }
  for (Member& member : all_members(&*type, index)) {
    if (!flatten(type_of(&member.die), out, index, depth + 1)) {
      return false;
    }
  }
  return true;
}

uint64_t aligned(uint64_t at, uint64_t alignment) {
  return (at + alignment - 1) / alignment * alignment;
}

// Whether the struct is nothing but its one or two scalars where they lie by themselves: it is not
// packed, and has no larger alignment.
bool is_natural(Dwarf_Die* type, const std::vector<Scalar>& parts, DwarfIndex& index) {
  if (parts.empty() || parts.size() > 2) return false;
  uint64_t alignment = 1;
  for (const Scalar& part : parts) {
    if (part.size == 0) return false;
    alignment = std::max<uint64_t>(alignment, part.size);
  }
  uint64_t size = parts[0].size;
  if (parts.size() == 2) size = aligned(size, parts[1].size) + parts[1].size;
  const uint64_t own = number(type, DW_AT_alignment).value_or(alignment_of(*type, index));
  return own == alignment && type_size(type) == aligned(size, alignment);
}

bool is_word(const Scalar& scalar) { return scalar.size == kOneWord && !scalar.floating; }

bool are_words(const std::vector<Scalar>& parts) {
  return parts.size() == 2 && std::all_of(parts.begin(), parts.end(), is_word);
}

// Whether a scalar is the only member of a struct that is a member: with repr(C), of which no debug
// information tells, the outer struct is no pair of scalars.
bool has_wrapped_scalar(TypeDie type, DwarfIndex& index, int depth = 0) {
  type = strip_type(type, index);
  if (!type || !is_struct(&*type) || depth > 8) return false;
  std::vector<TypeDie> inner;
  for (Member& member : all_members(&*type, index)) {
    TypeDie of = strip_type(type_of(&member.die), index);
    if (of && type_size(&*of) > 0) inner.push_back(of);
  }
  if (inner.size() == 1) return has_wrapped_scalar(inner[0], index, depth + 1);
  return std::any_of(inner.begin(), inner.end(), [](TypeDie& of) { return is_struct(&*of); });
}

// Whether a member is a struct of one scalar.
bool has_lone_struct(TypeDie type, DwarfIndex& index) {
  type = strip_type(type, index);
  if (!type || !is_struct(&*type)) return false;
  for (Member& member : all_members(&*type, index)) {
    TypeDie of = strip_type(type_of(&member.die), index);
    std::vector<Scalar> parts;
    if (of && is_struct(&*of) && flatten(of, parts, index) && parts.size() == 1) return true;
  }
  return false;
}

// An enum of two words in which each variant has at most one value, a word; or one variant has two
// words and marks the others by a value that it never has.
bool is_pair_of_variants(Dwarf_Die* type, DwarfIndex& index) {
  std::optional<Member> discriminant;
  std::vector<Variant> variants = variants_of(type, discriminant);
  if (variants.empty() || type_size(type) != kTwoWords) return false;
  size_t words = 0, pairs = 0;
  for (Variant& variant : variants) {
    std::vector<Scalar> parts;
    TypeDie type_of_variant = type_of(&variant.member.die);
    if (!flatten(type_of_variant, parts, index)) return false;
    if (has_lone_struct(type_of_variant, index)) return false;
    if (!std::all_of(parts.begin(), parts.end(), is_word)) return false;
    words += parts.size() == 1;
    pairs += parts.size() == 2;
    if (parts.size() > 2) return false;
  }
  return pairs == 0 || (pairs == 1 && words == 0);
}

// Two values side by side of which one is a number of 16 bytes, an enum's too: three registers.
bool may_be_wide_pair(Dwarf_Die* type, DwarfIndex& index) {
  if (!is_struct(type) || type_size(type) > 2 * kTwoWords) return false;
  std::optional<Member> discriminant;
  std::vector<Scalar> parts;
  const std::vector<Variant> variants = variants_of(type, discriminant);
  for (Variant variant : variants) {
    if (!flatten(type_of(&variant.member.die), parts, index)) {  // an array, an enum in an enum
      return number(type, DW_AT_alignment).value_or(kTwoWords) >= kTwoWords;
    }
  }
  if (variants.empty() && !flatten(*type, parts, index)) return false;
  const bool is_wide = std::any_of(parts.begin(), parts.end(),
                                   [](const Scalar& part) { return part.size > kOneWord; });
  return is_wide && (!variants.empty() || parts.size() <= 2);
}

// Whether a value of this type, a struct of two words, travels as these or in memory, by what no
// debug information tells.
bool is_either_way(TypeDie type, const Passing& passing, DwarfIndex& index) {
  return passing.aggregate && !passing.by_reference && passing.integer == 2 &&
         has_wrapped_scalar(type, index);
}

// The debug information has it at a place of the frame.
bool lies_in_frame(Dwarf_Die* parameter) {
  std::optional<Dwarf_Attribute> location = attribute(parameter, DW_AT_location);
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  return location && dwarf_getlocation(&*location, &ops, &count) == 0 && count == 1 &&
         ops[0].atom == DW_OP_fbreg;
}

// The parameter's one place in the whole function, above the canonical frame address.
std::optional<int64_t> only_place(Dwarf_Die* function, Dwarf_Die* parameter, DwarfIndex& index) {
  std::optional<Dwarf_Attribute> location = attribute(parameter, DW_AT_location);
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  const bool is_one = location && dwarf_getlocation(&*location, &ops, &count) == 0 && count == 1;
  return is_one ? above_frame_mostly(ops[0], function, index) : std::nullopt;
}

bool lies_in_own_frame(Dwarf_Die* function, Dwarf_Die* parameter, DwarfIndex& index) {
  const std::optional<int64_t> place = only_place(function, parameter, index);
  return place && *place < 0;
}

// The debug information has it, somewhere in the function, in what the caller has put onto the
// stack.
bool is_seen_above_frame(Dwarf_Die* function, Dwarf_Die* variable, DwarfIndex& index) {
  if (const std::optional<int64_t> place = only_place(function, variable, index)) {
    return *place >= 0;
  }
  std::optional<Dwarf_Attribute> location = attribute(variable, DW_AT_location);
  if (!location) return false;
  for (LocationWalk entry(&*location); entry.next();) {
    if (entry.count != 1 || entry.begin >= entry.end) continue;
    const std::optional<int64_t> place =
        above_frame(entry.ops[0], entry.begin + index.bias(), function, index);
    if (place && *place >= 0) return true;
  }
  return false;
}

}  // namespace

bool is_rust(Dwarf_Die* die) {
  Dwarf_Die unit;
  return dwarf_diecu(die, &unit, nullptr, nullptr) &&
         number(&unit, DW_AT_language) == uint64_t{DW_LANG_Rust};
}

std::optional<Passing> passing_in_rust(TypeDie type, DwarfIndex& index) {
  TypeDie bare = strip_type(type, index);
  const uint64_t size = bare ? type_size(&*bare) : 0;
  if (bare && size == 0) {  // a struct without members, `()`, which is a scalar of no bytes
    Passing nothing;
    nothing.aggregate = true;
    return nothing;
  }
  if (!bare || !(is_struct(&*bare) || is_array(&*bare))) {
    return passing_of(type, index);
  }
  if (size > kTwoWords) {
    return may_be_wide_pair(&*bare, index) ? std::nullopt : std::optional(passing_by_address());
  }
  std::vector<Scalar> parts;
  const bool known =
      is_struct(&*bare) && flatten(type, parts, index) && is_natural(&*bare, parts, index);
  // A lone number travels as one, or with repr(C), of which nothing tells, as bytes: a floating
  // point number as a word, one of 16 bytes by its address.
  const bool is_single = parts.size() == 1 && !parts[0].floating && size <= kOneWord;
  return known && (is_single || are_words(parts)) ? std::optional(passing_of(type, index))
                                                  : std::nullopt;
}

std::optional<Passing> parameter_in_rust(Dwarf_Die* function, Dwarf_Die* parameter,
                                         DwarfIndex& index) {
  TypeDie type = type_of(parameter);
  std::optional<Passing> passing = passing_in_rust(type, index);
  if (!passing) return std::nullopt;
  const bool is_unknown =
      passing->by_reference
          ? lies_in_frame(parameter) || is_seen_above_frame(function, parameter, index)
          : is_either_way(type, *passing, index) && !lies_in_own_frame(function, parameter, index);
  return is_unknown ? std::nullopt : passing;
}

std::optional<StackPart> stacked_in_rust(Dwarf_Die* function, Dwarf_Die* parameter,
                                         const Passing& passing, int left, uint64_t stack,
                                         DwarfIndex& index) {
  const bool is_wide = passing.stack_align > kOneWord && !passing.by_reference;
  const bool is_split = passing.integer == 2 && left == 1;
  const bool is_aligned = !is_wide || stack % passing.stack_align == 0;
  if (!is_split && is_aligned) return StackPart{stack, false};
  const std::optional<int64_t> place = only_place(function, parameter, index);
  if (!place || (is_wide && is_split)) return std::nullopt;
  if (*place >= 0) return StackPart{static_cast<uint64_t>(*place), false};
  return is_split ? std::optional(StackPart{stack, true}) : std::nullopt;
}

bool may_be_address(Dwarf_Die* function, Dwarf_Die* variable, DwarfIndex& index) {
  if (!is_rust(function)) return false;
  TypeDie type = type_of(variable);
  const std::optional<Passing> passing = passing_in_rust(type, index);
  return !passing || passing->by_reference || is_either_way(type, *passing, index);
}

bool may_be_address_at(Dwarf_Die* function, Dwarf_Die* variable, const Dwarf_Op& place,
                       DwarfIndex& index) {
  const bool is_based = place.atom == DW_OP_fbreg || place.atom == DW_OP_bregx ||
                        (place.atom >= DW_OP_breg0 && place.atom <= DW_OP_breg31);
  return is_based && may_be_address(function, variable, index) &&
         is_seen_above_frame(function, variable, index);
}

std::optional<bool> is_returned_in_memory_by_rust(TypeDie type, DwarfIndex& index) {
  TypeDie bare = strip_type(type, index);
  if (!bare || !(is_struct(&*bare) || is_array(&*bare))) {
    return false;
  }
  const uint64_t size = type_size(&*bare);
  if (size <= kOneWord) {
    return false;
  }
  if (size > kTwoWords) {
    return may_be_wide_pair(&*bare, index) ? std::nullopt : std::optional(true);
  }
  std::vector<Scalar> parts;
  const bool is_plain = is_struct(&*bare) && flatten(type, parts, index) && parts.size() == 2 &&
                        is_natural(&*bare, parts, index) && !has_wrapped_scalar(type, index);
  return is_plain || (is_struct(&*bare) && is_pair_of_variants(&*bare, index))
             ? std::optional(false)
             : std::nullopt;
}

}  // namespace dj
