// SPDX-License-Identifier: Apache-2.0
// Sorts types as rustc does: one scalar, two scalars side by side, and whatever else fits, which
// goes through memory or through registers by rustc's version.
#include "compiler/debuginfo/rust_passing.h"

#include <algorithm>

#include "compiler/debuginfo/types.h"

namespace dj {

namespace {

constexpr uint64_t kWord = 8, kTwoWords = 16;

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

bool is_word(const Scalar& scalar) { return scalar.size == kWord && !scalar.floating; }

bool are_words(const std::vector<Scalar>& parts) {
  return parts.size() == 2 && std::all_of(parts.begin(), parts.end(), is_word);
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
    if (!flatten(type_of(&variant.member.die), parts, index)) return false;
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
  const bool is_wide =
      std::any_of(parts.begin(), parts.end(), [](const Scalar& part) { return part.size > kWord; });
  return is_wide && (!variants.empty() || parts.size() <= 2);
}

// The debug information has it at a place of the frame.
bool lies_in_frame(Dwarf_Die* parameter) {
  std::optional<Dwarf_Attribute> location = attribute(parameter, DW_AT_location);
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  return location && dwarf_getlocation(&*location, &ops, &count) == 0 && count == 1 &&
         ops[0].atom == DW_OP_fbreg;
}

// Bytes from what DW_OP_fbreg counts from up to the canonical frame address; none: not known.
std::optional<int64_t> bytes_to_frame_address(Dwarf_Die* function, uint64_t pc, DwarfIndex& index) {
  std::optional<Dwarf_Attribute> base = attribute(function, DW_AT_frame_base);
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  if (!base || dwarf_getlocation(&*base, &ops, &count) != 0 || count != 1) return std::nullopt;
  if (ops[0].atom == DW_OP_call_frame_cfa) return 0;
  const std::vector<Dwarf_Op> frame = index.cfa_ops(pc);  // libdw gives a register and an offset so
  const bool is_same = frame.size() == 1 && frame[0].atom == DW_OP_bregx &&
                       frame[0].number + DW_OP_reg0 == ops[0].atom;
  return is_same ? std::optional(static_cast<int64_t>(frame[0].number2)) : std::nullopt;
}

}  // namespace

bool is_rust(Dwarf_Die* die) {
  Dwarf_Die unit;
  return dwarf_diecu(die, &unit, nullptr, nullptr) &&
         number(&unit, DW_AT_language) == uint64_t{DW_LANG_Rust};
}

std::optional<Passing> passing_in_rust(TypeDie type, DwarfIndex& index) {
  TypeDie bare = strip_type(type, index);
  if (!bare || !(is_struct(&*bare) || is_array(&*bare))) {
    return passing_of(type, index);
  }
  const uint64_t size = type_size(&*bare);
  if (size > kTwoWords) {
    return may_be_wide_pair(&*bare, index) ? std::nullopt : std::optional(passing_by_address());
  }
  if (size == 0) {
    Passing nothing;
    nothing.aggregate = true;
    return nothing;
  }
  std::vector<Scalar> parts;
  const bool known =
      is_struct(&*bare) && flatten(type, parts, index) && is_natural(&*bare, parts, index);
  // A lone floating point number travels as one, or with repr(C), of which nothing tells, as a
  // word.
  const bool is_single = parts.size() == 1 && !parts[0].floating;
  return known && (is_single || are_words(parts)) ? std::optional(passing_of(type, index))
                                                  : std::nullopt;
}

std::optional<Passing> parameter_in_rust(Dwarf_Die* parameter, DwarfIndex& index) {
  std::optional<Passing> passing = passing_in_rust(type_of(parameter), index);
  const bool is_either = passing && passing->by_reference && lies_in_frame(parameter);
  return is_either ? std::nullopt : passing;
}

bool may_be_address(Dwarf_Die* function, Dwarf_Die* parameter, DwarfIndex& index) {
  if (!is_rust(function)) return false;
  const std::optional<Passing> passing = passing_in_rust(type_of(parameter), index);
  return !passing || passing->by_reference;
}

bool may_be_address_at(Dwarf_Die* function, Dwarf_Die* parameter, const Dwarf_Op& place,
                       uint64_t pc, DwarfIndex& index) {
  if (place.atom != DW_OP_fbreg || !may_be_address(function, parameter, index)) return false;
  const std::optional<int64_t> above = bytes_to_frame_address(function, pc, index);
  return above && static_cast<int64_t>(place.number) >= *above;
}

std::optional<bool> is_returned_in_memory_by_rust(TypeDie type, DwarfIndex& index) {
  TypeDie bare = strip_type(type, index);
  if (!bare || !(is_struct(&*bare) || is_array(&*bare))) {
    return false;
  }
  const uint64_t size = type_size(&*bare);
  if (size <= kWord) {
    return false;
  }
  if (size > kTwoWords) {
    return may_be_wide_pair(&*bare, index) ? std::nullopt : std::optional(true);
  }
  std::vector<Scalar> parts;
  const bool is_plain =
      is_struct(&*bare) && flatten(type, parts, index) && is_natural(&*bare, parts, index);
  return is_plain || (is_struct(&*bare) && is_pair_of_variants(&*bare, index))
             ? std::optional(false)
             : std::nullopt;
}

}  // namespace dj
