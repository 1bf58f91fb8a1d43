// SPDX-License-Identifier: Apache-2.0
// Classifies types as their members say, in order of the bytes.
#include "compiler/debuginfo/passing.h"

#include <algorithm>

#include "arch/x86_64/registers.h"
#include "compiler/debuginfo/rust_passing.h"
#include "compiler/debuginfo/wide_registers.h"

namespace dj {

namespace {

struct MarkedParts {
  Part of[2] = {Part::None, Part::None};
  bool x87[2] = {false, false};  // also a long double's
  bool is_unsure = false;        // whether a part lies off its alignment depends on what is packed

  // Where an integer has the same bytes (a union), that decides.
  bool need_memory() const {
    return (x87[0] && of[0] != Part::Integer) || (x87[1] && of[1] != Part::Integer);
  }
  // Bytes [begin, end); an integer among them takes the whole part.
  void add(Part part, uint64_t begin, uint64_t end) {
    for (uint64_t at = begin / 8; at < (end + 7) / 8 && at < std::size(of); ++at) {
      of[at] = std::max(of[at], part);
    }
  }
};

// A scalar's bytes: a pointer to a member function is an address and what to add to `this`.
uint64_t scalar_bytes(Dwarf_Die* type, const Scalar& scalar) {
  TypeDie target = dwarf_tag(type) == DW_TAG_ptr_to_member_type ? type_of(type) : TypeDie{};
  const bool method = target && dwarf_tag(&*target) == DW_TAG_subroutine_type;
  return method ? 16 : std::max<uint64_t>(type_size(type), scalar.size);
}

// A scalar at [base, ..). False: it travels in memory.
bool mark_scalar(Dwarf_Die* type, const Scalar& scalar, uint64_t base, MarkedParts& parts) {
  const uint64_t bytes = scalar_bytes(type, scalar);
  const bool complex = number(type, DW_AT_encoding) == uint64_t{DW_ATE_complex_float};
  const uint64_t alignment = std::min<uint64_t>(complex ? bytes / 2 : bytes, 8);
  if (base + bytes > kMaxRegisterBytes || base % alignment != 0) {
    return false;
  }
  if (is_extended(type)) {
    parts.x87[0] = parts.x87[1] = true;
    return true;
  }
  if (scalar.floating && !complex && bytes > 8) {  // __float128 in one register
    parts.add(Part::Vector, base, base + 8);
    parts.add(Part::Upper, base + 8, base + bytes);
    return true;
  }
  parts.add(scalar.floating ? Part::Vector : Part::Integer, base, base + bytes);
  return true;
}

// Whether a struct has __attribute__((packed)): no debug information says it, the layout may.
enum class Packed { No, Yes, Unknown };

bool is_field(Dwarf_Die* child) {
  const int tag = dwarf_tag(child);
  return (tag == DW_TAG_member || tag == DW_TAG_inheritance) && !flag(child, DW_AT_external) &&
         !is_virtual_base(child);
}

// A member that is no bit-field lies off its type's alignment, or a bit-field across two units of
// its type.
bool is_displaced(const Member& member, uint64_t size, uint64_t alignment) {
  if (!member.bit_size) {
    return member.offset % alignment != 0;
  }
  const uint64_t unit = 8 * size, begin = member.bit_offset, width = *member.bit_size;
  return width > 0 && width <= unit && begin / unit != (begin + width - 1) / unit;
}

// As compilers place it: a bit-field that fills its type's bytes is still one.
Member placed_member(Dwarf_Die& child) {
  Member member = direct_member(child);
  if (std::optional<uint64_t> bits = number(&child, DW_AT_bit_size); bits && !member.bit_size) {
    member.bit_size = *bits;
    member.bit_offset = member.offset * 8;
  }
  return member;
}

struct MemberLayout {
  uint64_t natural = 1;  // the alignment that the members' types want
  Packed packed = Packed::No;
};

// A struct that has padding is not packed, and what is neither displaced nor has padding may be. A
// union is as a struct of its largest member.
MemberLayout layout_of(Dwarf_Die* type, DwarfIndex& index, int depth) {
  MemberLayout result;
  uint64_t sum = 0, largest = 0;
  bool displaced = false;
  for (Dwarf_Die& child : children(type)) {
    TypeDie of = is_field(&child) ? strip_type(type_of(&child), index) : TypeDie{};
    if (!of) {
      continue;
    }
    const uint64_t alignment = alignment_of(of, index, depth + 1), size = type_size(&*of);
    const Member member = placed_member(child);
    const uint64_t bits = member.bit_size.value_or(8 * size);
    result.natural = std::max(result.natural, alignment);
    displaced = displaced || (size > 0 && is_displaced(member, size, alignment));
    sum += bits;
    largest = std::max(largest, bits);
  }
  const uint64_t size = type_size(type);
  const uint64_t needed = dwarf_tag(type) == DW_TAG_union_type ? largest : sum;
  if (displaced || size % result.natural != 0) {
    result.packed = Packed::Yes;
  } else if (result.natural > 1 && (needed + 7) / 8 >= size) {
    result.packed = Packed::Unknown;
  }
  return result;
}

// clang asks of each member, but of a bit-field, whether it lies at its type's alignment: a struct
// of bit-fields has the one of their types. False: it does not, which puts the object into memory.
bool is_aligned_in_clang(TypeDie type, uint64_t at, MarkedParts& parts, DwarfIndex& index) {
  if (at % alignment_of(type, index) == 0) {
    return true;
  }
  while (type && is_array(&*type) && !is_vector_type(&*type)) {
    type = strip_type(type_of(&*type), index);
  }
  if (!type || !is_struct(&*type) || layout_of(&*type, index, 0).packed != Packed::Unknown) {
    return false;
  }
  parts.is_unsure = true;
  return true;
}

// gcc makes a number of a bit-field that has a number's width and place, but in a packed struct.
// False: it lies off its alignment.
bool is_aligned_in_gcc(Dwarf_Die* type, const Member& member, uint64_t bit, MarkedParts& parts,
                       DwarfIndex& index) {
  const uint64_t width = *member.bit_size;
  const bool is_number = width == 8 || width == 16 || width == 32 || width == 64;
  if (!is_number || member.bit_offset % width != 0 || bit % width == 0) {
    return true;
  }
  const Packed packed = layout_of(type, index, 0).packed;
  parts.is_unsure |= packed == Packed::Unknown;
  return packed != Packed::No;
}

bool mark_parts(TypeDie type, uint64_t base, MarkedParts& parts, DwarfIndex& index, int depth);

// One member of the struct `type` at `base`.
bool mark_member(Dwarf_Die* type, Dwarf_Die& child, uint64_t base, MarkedParts& parts,
                 DwarfIndex& index, int depth) {
  const Member member = placed_member(child);
  const bool by_gcc = is_made_by_gcc(&child);
  if (member.bit_size) {
    const uint64_t bit = base * 8 + member.bit_offset;
    parts.add(Part::Integer, bit / 8, (bit + *member.bit_size + 7) / 8);
    return !by_gcc || is_aligned_in_gcc(type, member, bit, parts, index);
  }
  TypeDie of = strip_type(type_of(&child), index);
  const bool is_asked = !by_gcc && of && dwarf_tag(&child) == DW_TAG_member;
  return (!is_asked || is_aligned_in_clang(of, base + member.offset, parts, index)) &&
         mark_parts(of, base + member.offset, parts, index, depth + 1);
}

struct Elements {
  TypeDie type;
  uint64_t base, step, end;
};

// gcc looks at an array's first element, and takes its classes for all words of the array.
bool mark_as_first_element(const Elements& elements, MarkedParts& parts, DwarfIndex& index,
                           int depth) {
  const auto& [type, base, step, end] = elements;
  MarkedParts first;
  if (!mark_parts(type, base, first, index, depth + 1)) {
    return false;
  }
  parts.is_unsure |= first.is_unsure;
  const uint64_t word = base / 8, count = (base % 8 + step + 7) / 8;
  for (uint64_t at = word; at < (end + 7) / 8 && at < std::size(parts.of); ++at) {
    const uint64_t like = word + (at - word) % count;
    parts.of[at] = std::max(parts.of[at], first.of[like]);
    parts.x87[at] |= first.x87[like];
  }
  return true;
}

bool mark_elements(Dwarf_Die* type, uint64_t base, MarkedParts& parts, DwarfIndex& index,
                   int depth) {
  TypeDie element = strip_type(type_of(type), index);
  const uint64_t step = element ? type_size(&*element) : 0;
  const uint64_t end = base + type_size(type);
  if (step > 0 && base < end && is_made_by_gcc(type)) {
    return mark_as_first_element({element, base, step, end}, parts, index, depth);
  }
  for (uint64_t at = base; step > 0 && at < end; at += step) {
    if (!mark_parts(element, at, parts, index, depth + 1)) {
      return false;
    }
  }
  return step > 0;
}

// Marks what the 8 bytes at [base, ..) hold. False: a part that puts the whole object into memory
// (unaligned).
bool mark_parts(TypeDie type, uint64_t base, MarkedParts& parts, DwarfIndex& index, int depth) {
  type = strip_type(type, index);
  if (!type || depth > 16) {
    return false;
  }
  if (is_struct(&*type)) {
    for (Dwarf_Die& child : children(&*type)) {
      if (is_field(&child) && !mark_member(&*type, child, base, parts, index, depth)) {
        return false;
      }
    }
    return true;
  }
  if (is_vector_type(&*type)) {
    const uint64_t end = base + type_size(&*type);
    TypeDie element = strip_type(type_of(&*type), index);
    const std::optional<Scalar> scalar = element ? scalar_of(&*element) : std::nullopt;
    const bool small = end - base < 8;
    const bool lone = scalar && scalar->floating && scalar->size == end - base;
    if (lone && (!small || is_made_by_gcc(&*type))) {  // a vector of one float or double
      return false;
    }
    parts.add(small ? Part::Integer : Part::Vector, base, base + 8);
    parts.add(Part::Upper, base + 8, end);
    return base % (end - base) == 0 && end <= kMaxRegisterBytes;
  }
  if (is_array(&*type)) {
    return mark_elements(&*type, base, parts, index, depth);
  }
  std::optional<Scalar> scalar = scalar_of(&*type);
  return scalar && mark_scalar(&*type, *scalar, base, parts);
}

// A special member function that the program wrote: destructor, copy or move constructor.
bool is_own_special(Dwarf_Die* method, const std::string& class_name, DwarfIndex& index) {
  if (flag(method, DW_AT_artificial) ||
      number(method, DW_AT_defaulted) == uint64_t{DW_DEFAULTED_in_class}) {
    return false;
  }
  const std::string name = die_name(method);
  if (name.starts_with('~')) {
    return true;
  }
  std::vector<Dwarf_Die> parameters;
  for (Dwarf_Die& child : children(method)) {
    if (dwarf_tag(&child) == DW_TAG_formal_parameter && !flag(&child, DW_AT_artificial)) {
      parameters.push_back(child);
    }
  }
  TypeDie type = parameters.size() == 1 ? strip_type(type_of(&parameters[0]), index) : TypeDie{};
  TypeDie target = type && is_reference(&*type) ? strip_type(type_of(&*type), index) : TypeDie{};
  return target && name == class_name.substr(0, class_name.find('<')) &&
         die_name(&*target) == class_name;
}

}  // namespace

uint64_t alignment_of(TypeDie type, DwarfIndex& index, int depth) {
  type = strip_type(type, index);
  if (!type || depth > 16) {
    return 1;
  }
  uint64_t alignment = number(&*type, DW_AT_alignment).value_or(1);
  if (is_struct(&*type)) {
    for (Dwarf_Die& child : children(&*type)) {
      if (is_field(&child)) {
        alignment = std::max(alignment, number(&child, DW_AT_alignment).value_or(1));
      }
    }
    const MemberLayout layout = layout_of(&*type, index, depth);
    return layout.packed == Packed::Yes ? alignment : std::max(alignment, layout.natural);
  }
  if (is_array(&*type) && !is_vector_type(&*type)) {
    return std::max(alignment, alignment_of(type_of(&*type), index, depth + 1));
  }
  const bool complex = number(&*type, DW_AT_encoding) == uint64_t{DW_ATE_complex_float};
  return std::max(alignment, type_size(&*type) / (complex ? 2 : 1));
}

// Objects that are not trivial to copy travel as their address. clang says so in DWARF; for gcc it
// follows from the class's members.
bool travels_as_address(TypeDie type, DwarfIndex& index, int depth) {
  type = strip_type(type, index);
  if (type && is_array(&*type)) {  // a member's
    type = strip_type(type_of(&*type), index);
  }
  if (!type || !is_struct(&*type) || depth > 16) {
    return false;
  }
  if (std::optional<uint64_t> stated = number(&*type, DW_AT_calling_convention)) {
    return *stated == DW_CC_pass_by_reference;
  }
  const std::string name = die_name(&*type);
  for (Dwarf_Die& child : children(&*type)) {
    switch (dwarf_tag(&child)) {
      case DW_TAG_subprogram:
        if (number(&child, DW_AT_virtuality).value_or(0) != 0 ||
            is_own_special(&child, name, index)) {
          return true;
        }
        break;
      case DW_TAG_member:
      case DW_TAG_inheritance:
        if (is_virtual_base(&child)) {
          return true;
        }
        if (!flag(&child, DW_AT_external) &&
            travels_as_address(type_of(&child), index, depth + 1)) {
          return true;
        }
        break;
      default:
        break;
    }
  }
  return false;
}

Passing passing_of(TypeDie type, DwarfIndex& index) {
  Passing result;
  type = strip_type(type, index);
  if (!type) {
    result.memory = true;
    return result;
  }
  result.aggregate = is_struct(&*type) || is_array(&*type);
  if (travels_as_address(type, index)) {
    result.integer = 1;
    result.by_reference = true;
    return result;
  }
  const uint64_t size = type_size(&*type);
  MarkedParts parts;
  // More than 16 bytes are memory, whatever members they have: padding, or a Rust enum's variants.
  const bool fits =
      size <= kMaxRegisterBytes && mark_parts(type, 0, parts, index, 0) && !parts.need_memory();
  result.wide_vector = is_wide_vector(type, index);
  if (result.wide_vector) {
    parts.of[0] = Part::Vector;
    parts.of[1] = Part::Upper;
  }
  result.memory = !fits && !result.wide_vector;
  result.is_unknown = fits && parts.is_unsure;
  result.stack_bytes = std::max<uint64_t>(8, (size + 7) & ~7ull);
  result.stack_align = std::max<uint64_t>(8, alignment_of(type, index));
  for (size_t i = 0; !result.memory && i < std::size(parts.of); ++i) {
    result.parts[i] = parts.of[i];
    result.integer += parts.of[i] == Part::Integer;
    result.vector += parts.of[i] == Part::Vector;
  }
  return result;
}

Passing passing_by_address() {
  Passing address;
  address.aggregate = true;
  address.integer = 1;
  address.by_reference = true;
  return address;
}

namespace {

// Its place in the frame, or its register, holds only its address: Fortran's arguments.
bool is_passed_by_address(Dwarf_Die* parameter) {
  std::optional<Dwarf_Attribute> location = attribute(parameter, DW_AT_location);
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  if (!location || dwarf_getlocation(&*location, &ops, &count) != 0 || count == 0) {
    return false;
  }
  const auto& regs = arch::kArgumentRegs;
  const bool at_register = std::find_if(std::begin(regs), std::end(regs), [&](arch::Reg reg) {
                             return ops[0].atom == static_cast<unsigned>(DW_OP_breg0) + reg;
                           }) != std::end(regs);
  return count == 1 ? at_register && ops[0].number == 0
                    : count == 2 && ops[0].atom == DW_OP_fbreg && ops[1].atom == DW_OP_deref;
}

}  // namespace

std::optional<Passing> passing_of_parameter(Dwarf_Die* function, Dwarf_Die* parameter,
                                            DwarfIndex& index) {
  if (is_passed_by_address(parameter)) {
    return passing_by_address();
  }
  return is_rust(parameter) ? parameter_in_rust(function, parameter, index)
                            : passing_of(type_of(parameter), index);
}

}  // namespace dj
