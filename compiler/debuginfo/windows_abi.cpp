// SPDX-License-Identifier: Apache-2.0
// Counts places: an argument's number alone says where it is.
#include "compiler/debuginfo/windows_abi.h"

#include <algorithm>

#include "arch/x86_64/registers.h"
#include "compiler/debuginfo/passing.h"
#include "compiler/debuginfo/system_v.h"
#include "compiler/debuginfo/types.h"
#include "compiler/debuginfo/wide_registers.h"

namespace dj {

namespace {

constexpr arch::Reg kWindowsIntegers[kWindowsRegisters] = {arch::kRcx, arch::kRdx, arch::kR8,
                                                           arch::kR9};

enum class Way : uint8_t { Integer, Vector, Address, Unknown };

// Structs of 1, 2, 4 and 8 bytes travel as numbers, others as their address. Of numbers of more
// than 8 bytes, vectors and objects of no bytes, gcc and clang do different things.
Way way_of(TypeDie type, DwarfIndex& index) {
  type = strip_type(type, index);
  const uint64_t size = type ? type_size(&*type) : 0;
  if (!type || size == 0 || is_vector_type(&*type) || is_extended_struct(type, index)) {
    return Way::Unknown;
  }
  const bool fits = size == 1 || size == 2 || size == 4 || size == 8;
  if (is_struct(&*type)) {
    const bool empty = children(&*type).empty();
    return empty                                      ? Way::Unknown
           : fits && !travels_as_address(type, index) ? Way::Integer
                                                      : Way::Address;
  }
  if (number(&*type, DW_AT_encoding) == uint64_t{DW_ATE_complex_float}) {
    return fits ? Way::Integer : Way::Address;
  }
  const std::optional<Scalar> scalar = scalar_of(&*type);
  return !fits || !scalar ? Way::Unknown : scalar->floating ? Way::Vector : Way::Integer;
}

// What lies where an address says that lies in `place`.
ValueLocation at_address(const ValueLocation& place) {
  ValueLocation value_at;
  value_at.expr = place.kind == ValueLocation::Value ? place.expr : load(place, 8, false);
  return value_at;
}

}  // namespace

Result<ValueLocation> windows_result(Dwarf_Die* function, DwarfIndex& index) {
  switch (way_of(type_of(function), index)) {
    case Way::Integer:
      return register_word(arch::kRax);
    case Way::Vector:
      return register_word(arch::kXmm0);
    case Way::Address:
      return at_address(register_word(arch::kRax));
    case Way::Unknown:
      break;
  }
  return Error{"how a function of Windows' convention returns such a value is not known",
               Fail::Unsupported};
}

std::optional<int> windows_place(Dwarf_Die* function, Dwarf_Die* parameter, DwarfIndex& index) {
  TypeDie result = type_of(function);
  const Way returned = result ? way_of(result, index) : Way::Integer;
  bool known = returned != Way::Unknown;  // its address may take a place
  int place = returned == Way::Address ? 1 : 0;
  for (Dwarf_Die& child : children(function)) {
    if (dwarf_tag(&child) != DW_TAG_formal_parameter) {
      continue;
    }
    known = known && way_of(type_of(&child), index) != Way::Unknown;
    if (!known || identity(child) == identity(*parameter)) {
      return known ? std::optional(place) : std::nullopt;
    }
    place++;
  }
  return std::nullopt;
}

Result<ValueLocation> windows_argument(Dwarf_Die* function, Dwarf_Die* parameter,
                                       DwarfIndex& index) {
  const std::optional<int> place = windows_place(function, parameter, index);
  if (!place) {
    return Error{"where a function of Windows' convention has it at its entry is not known"};
  }
  const Way way = way_of(type_of(parameter), index);
  const ValueLocation value_at = *place >= kWindowsRegisters ? stack_location(uint64_t(*place) * 8)
                                 : way == Way::Vector        ? register_word(arch::kXmm0 + *place)
                                                      : register_word(kWindowsIntegers[*place]);
  return way == Way::Address ? at_address(value_at) : value_at;
}

}  // namespace dj
