// SPDX-License-Identifier: Apache-2.0
// Hands out argument registers and stack slots to parameters in order, as a caller does.
#include "compiler/debuginfo/system_v.h"

#include <algorithm>

#include "arch/x86_64/registers.h"
#include "compiler/debuginfo/passing.h"
#include "compiler/debuginfo/rust_passing.h"
#include "compiler/debuginfo/types.h"
#include "compiler/debuginfo/wide_registers.h"

namespace dj {

ValueLocation stack_location(uint64_t offset) {
  ValueLocation value_at;
  value_at.expr.steps.push_back({LocStep::PushReg, arch::kRsp});
  add_constant(value_at.expr, int64_t(offset + 8));  // above the return address
  value_at.in_frame = true;
  return value_at;
}

ValueLocation register_word(int64_t reg) {
  ValueLocation value_at;
  value_at.kind = ValueLocation::Value;
  value_at.reg = int(reg);
  value_at.expr.steps.push_back({LocStep::PushReg, reg});
  return value_at;
}

namespace {

constexpr int kIntegerArguments = 6, kVectorArguments = 8;
constexpr uint64_t kEightbyte = 8;

// The value whose parts stand in these registers, integer and vector ones in their own order.
ValueLocation register_location(const Passing& p, const arch::Reg* integers, int64_t vectors) {
  if (p.by_reference) {
    ValueLocation value_at;
    value_at.expr.steps.push_back({LocStep::PushReg, *integers});
    return value_at;
  }
  if (p.integer + p.vector == 1 && p.parts[0] >= Part::Vector && p.parts[1] <= Part::Upper) {
    return register_word(p.vector > 0 ? vectors : int64_t{*integers});
  }
  ValueLocation whole;
  whole.kind = ValueLocation::Pieces;
  for (size_t i = 0; i < std::size(p.parts); i++) {
    const bool known = p.parts[i] >= Part::Vector;
    const int64_t reg = !known ? 0 : p.parts[i] == Part::Vector ? vectors++ : int64_t{*integers++};
    whole.pieces.push_back({i * 8, 8, known, known ? register_word(reg) : ValueLocation()});
  }
  return whole;
}

// The first word in a register, the second so many bytes above the return address.
ValueLocation split_location(int64_t reg, uint64_t offset) {
  ValueLocation whole;
  whole.kind = ValueLocation::Pieces;
  whole.pieces = {{0, kEightbyte, true, register_word(reg)},
                  {kEightbyte, kEightbyte, true, stack_location(offset)}};
  return whole;
}

// The place of a parameter for which too few registers are left; none: not known.
std::optional<StackPart> stack_part(Dwarf_Die* function, Dwarf_Die* parameter,
                                    const Passing& passing, int left, uint64_t stack,
                                    DwarfIndex& index) {
  if (is_rust(function)) {
    return stacked_in_rust(function, parameter, passing, left, stack, index);
  }
  const uint64_t align = passing.stack_align;
  return StackPart{(stack + align - 1) / align * align, false};
}

Error unknown_place(Dwarf_Die* function) {
  return Error{is_rust(function)
                   ? "where Rust passes it is not known; a line of the function knows it"
                   : "whether it is passed in registers depends on what is packed, of which the "
                     "debug information does not tell; a line of the function knows it"};
}

// A value of so many bytes in vector registers of 16 bytes each.
ValueLocation vector_parts(uint64_t bytes) {
  constexpr uint64_t kPart = 16;
  ValueLocation whole;
  whole.kind = ValueLocation::Pieces;
  for (uint64_t at = 0; at < bytes; at += kPart) {
    whole.pieces.push_back({at, kPart, true, register_word(arch::kXmm0 + int64_t(at / kPart))});
  }
  return whole;
}

// What comes back on the x87's stack, of which a complex number takes two places; none: another
// type.
std::optional<ValueLocation> result_of_x87(TypeDie type, DwarfIndex& index) {
  if (is_extended_struct(type, index)) {
    return register_word(arch::kSt0);
  }
  TypeDie bare = strip_type(type, index);
  if (!bare || !is_extended_complex(&*bare)) {
    return std::nullopt;
  }
  ValueLocation both;
  both.kind = ValueLocation::Pieces;
  both.pieces = {{0, kExtendedBytes, true, register_word(arch::kSt0)},
                 {kExtendedBytes, kExtendedBytes, true, register_word(arch::kSt0 + 1)}};
  return both;
}

// How the function returns its vector of 32 bytes or more.
Result<WideReturn> wide_result(Dwarf_Die* function, DwarfIndex& index) {
  TypeDie type = strip_type(type_of(function), index);
  return wide_return(function, type_size(&*type), is_struct(&*type), index);
}

// Whether the caller says where the result goes. The function then returns that address in rax.
Result<bool> is_result_in_memory(Dwarf_Die* function, const Passing& passing, DwarfIndex& index) {
  TypeDie type = strip_type(type_of(function), index);
  if (passing.wide_vector && type) {
    DJ_TRY(const WideReturn way, wide_result(function, index));
    return way == WideReturn::Memory;
  }
  if (passing.memory && type && is_vector_type(&*type) && !is_made_by_gcc(function)) {
    return false;  // clang has places of its own for it
  }
  const bool large = passing.memory && !result_of_x87(type, index);
  return passing.aggregate && (large || passing.by_reference);
}

// Whether the caller gives the address of the result as a first argument that has no name; none:
// that is not known.
std::optional<bool> returned_in_memory(Dwarf_Die* function, DwarfIndex& index) {
  TypeDie type = type_of(function);
  if (!type) {
    return false;
  }
  if (is_rust(function)) {
    return is_returned_in_memory_by_rust(type, index);
  }
  const Passing passing = passing_of(type, index);
  if (passing.is_unknown) {
    return std::nullopt;
  }
  const Result<bool> in_memory = is_result_in_memory(function, passing, index);
  return in_memory.ok() && in_memory.value();
}

}  // namespace

Result<ValueLocation> system_v_result(Dwarf_Die* function, DwarfIndex& index) {
  TypeDie type = type_of(function);
  const std::optional<Passing> passing =
      is_rust(function) ? passing_in_rust(type, index) : passing_of(type, index);
  if (!passing || !returned_in_memory(function, index)) {
    return Error{
        is_rust(function)
            ? "how Rust returns such a value is not known"
            : "whether it is returned in registers depends on what is packed, of which the "
              "debug information does not tell",
        Fail::Unsupported};
  }
  if (std::optional<ValueLocation> value_at = result_of_x87(type, index);
      value_at && passing->memory) {
    return *value_at;
  }
  DJ_TRY(const bool in_memory, is_result_in_memory(function, *passing, index));
  if (in_memory) {
    ValueLocation value_at;  // rax holds the address that the caller gave; Rust's functions need
                             // not keep that
    value_at.expr.steps.push_back(is_rust(function) ? LocStep{LocStep::PushEntry, kEntryResult}
                                                    : LocStep{LocStep::PushReg, arch::kRax});
    return value_at;
  }
  if (passing->memory || passing->integer + passing->vector == 0) {
    return Error{"how such a value is returned is not known", Fail::Unsupported};
  }
  if (passing->wide_vector) {
    DJ_TRY(const WideReturn way, wide_result(function, index));
    if (way == WideReturn::Parts) {
      TypeDie bare = strip_type(type, index);
      return vector_parts(type_size(&*bare));
    }
  }
  static constexpr arch::Reg kResults[2] = {arch::kRax, arch::kRdx};
  return register_location(*passing, kResults, arch::kXmm0);
}

Result<ValueLocation> system_v_argument(Dwarf_Die* function, Dwarf_Die* parameter,
                                        DwarfIndex& index) {
  const std::optional<bool> takes_address = returned_in_memory(function, index);
  if (!takes_address) {
    return is_rust(function)
               ? Error{"how Rust returns the result is not known, nor where it passes the "
                       "parameters; a line of the function knows it"}
               : unknown_place(function);
  }
  int integers = *takes_address ? 1 : 0;
  int vectors = 0;
  uint64_t stack = 0;
  for (Dwarf_Die& child : children(function)) {
    if (dwarf_tag(&child) != DW_TAG_formal_parameter) {
      continue;
    }
    const bool wanted = dwarf_dieoffset(&child) == dwarf_dieoffset(parameter);
    const std::optional<Passing> passing = passing_of_parameter(function, &child, index);
    if (!passing || passing->is_unknown) {
      return unknown_place(function);
    }
    const Passing& p = *passing;
    const bool in_registers =
        !p.memory && (!p.wide_vector || keeps_wide_register(function, vectors, index)) &&
        integers + p.integer <= kIntegerArguments && vectors + p.vector <= kVectorArguments;
    if (in_registers) {
      if (wanted) {
        return register_location(p, arch::kArgumentRegs + integers, arch::kXmm0 + vectors);
      }
      integers += p.integer;
      vectors += p.vector;
      continue;
    }
    const std::optional<StackPart> part =
        stack_part(function, &child, p, kIntegerArguments - integers, stack, index);
    if (!part) {
      return unknown_place(function);
    }
    if (wanted && part->is_split) {
      return split_location(arch::kArgumentRegs[integers], part->offset);
    }
    if (wanted) {
      ValueLocation value_at = stack_location(part->offset);
      if (p.by_reference) {
        value_at.expr = load(value_at, 8, false);
        value_at.in_frame = false;
      }
      return value_at;
    }
    integers += part->is_split;
    stack = part->offset + (part->is_split ? kEightbyte : p.stack_bytes);
  }
  return Error{"it is not among the function's parameters"};
}

}  // namespace dj
