// SPDX-License-Identifier: Apache-2.0
// Reads the convention that a compiler has noted, or compares places with those of each convention.
#include "compiler/debuginfo/convention.h"

#include <algorithm>

#include "arch/x86_64/registers.h"
#include "compiler/debuginfo/location_lists.h"
#include "compiler/debuginfo/passing.h"
#include "compiler/debuginfo/system_v.h"
#include "compiler/debuginfo/types.h"
#include "compiler/debuginfo/wide_registers.h"
#include "compiler/debuginfo/windows_abi.h"

namespace dj {

namespace {

// LLVM's numbers, which elfutils does not name.
enum Stated : uint64_t {
  kWindows = 0xc1,
  kSystemV = 0xc2,
  kPreserveMost = 0xc9,  // passes as System V does, and keeps more registers
  kPreserveAll = 0xca,
};

std::optional<Convention> stated(Dwarf_Die* function) {
  const std::optional<uint64_t> number_of = number(function, DW_AT_calling_convention);
  if (!number_of || *number_of == DW_CC_nocall) {  // which stands in place of the convention
    return std::nullopt;
  }
  switch (*number_of) {
    case DW_CC_normal:
    case DW_CC_program:
    case kSystemV:
    case kPreserveMost:
    case kPreserveAll:
      return Convention::SystemV;
    case kWindows:
      return Convention::Windows;
    default:
      return Convention::Unknown;
  }
}

// Where the debug information has a parameter that did not move since the function's entry: a
// register, or bytes above the canonical frame address.
struct Told {
  int reg = -1;
  int64_t above = -1;
};

// DWARF 2 has no word for the canonical frame address: at the entry it is rsp + 8 there.
bool counts_from_frame(Dwarf_Die* function, uint64_t begin) {
  std::optional<Dwarf_Attribute> base = attribute(function, DW_AT_frame_base);
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  return base && location_at(&*base, begin, &ops, &count) == 1 && count == 1 &&
         (ops[0].atom == DW_OP_call_frame_cfa ||
          (ops[0].atom == DW_OP_breg7 && ops[0].number == 8));
}

std::optional<Told> told_of(Dwarf_Die* function, Dwarf_Die* parameter, uint64_t begin) {
  std::optional<Dwarf_Attribute> location = attribute(parameter, DW_AT_location);
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  if (!location || location_at(&*location, begin, &ops, &count) != 1 || count != 1) {
    return std::nullopt;
  }
  const unsigned atom = ops[0].atom;
  if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31) {
    return Told{int(atom - DW_OP_reg0), -1};
  }
  const int64_t offset = int64_t(ops[0].number);
  return atom == DW_OP_fbreg && offset >= 0 && counts_from_frame(function, begin)
             ? std::optional(Told{-1, offset})
             : std::nullopt;
}

bool is_in_system_v(Dwarf_Die* function, Dwarf_Die* parameter, const Told& told,
                    DwarfIndex& index) {
  const Result<ValueLocation> place = system_v_argument(function, parameter, index);
  if (!place.ok()) {
    return true;  // what is not known tells nothing
  }
  const ValueLocation& value_at = place.value();
  return told.reg >= 0 ? value_at.kind == ValueLocation::Pieces || value_at.reg == told.reg
                       : value_at.expr == stack_location(uint64_t(told.above)).expr;
}

bool is_in_windows(Dwarf_Die* function, Dwarf_Die* parameter, const Told& told, DwarfIndex& index) {
  const std::optional<int> place = windows_place(function, parameter, index);
  if (!place || told.reg < 0) {
    return place && told.above == int64_t{*place} * 8;
  }
  const Result<ValueLocation> value_at = windows_argument(function, parameter, index);
  return value_at.ok() && value_at.value().reg == told.reg;
}

// Objects of no bytes travel nowhere, though gcc gives them a place.
bool travels(Dwarf_Die* parameter, DwarfIndex& index) {
  const Passing passing = passing_of(type_of(parameter), index);
  return passing.memory || passing.integer + passing.vector > 0;
}

// Registers that a callee keeps for its caller by Windows' convention alone, and not those that it
// need not keep: an interrupt's handler keeps both.
bool keeps_as_in_windows(Dwarf_Die* function, const DwarfIndex& index) {
  Dwarf_Addr begin = 0, end = 0;
  if (dwarf_lowpc(function, &begin) != 0 || dwarf_highpc(function, &end) != 0) {
    return false;
  }
  auto keeps = [&](int64_t reg) {
    for (uint64_t part = 1; part <= 4; part++) {
      const uint64_t pc = begin + (end - begin) * part / 4 - (part == 4);
      const auto saved = index.saved_register(pc + index.bias(), int(reg));
      if (saved && saved->in_memory) {
        return true;
      }
    }
    return false;
  };
  constexpr int64_t kXmm6 = arch::kXmm0 + 6;
  return (keeps(arch::kRsi) || keeps(arch::kRdi) || keeps(kXmm6)) && !keeps(arch::kRcx) &&
         !keeps(arch::kRdx) && !keeps(arch::kXmm0);
}

}  // namespace

Convention convention_of(Dwarf_Die* function, DwarfIndex& index) {
  if (std::optional<Convention> noted = stated(function)) {
    return *noted;
  }
  Dwarf_Addr begin = 0;
  if (!is_made_by_gcc(function) || dwarf_lowpc(function, &begin) != 0) {
    const bool unsaid = number(function, DW_AT_calling_convention).has_value();
    return unsaid && keeps_as_in_windows(function, index) ? Convention::Unknown
                                                          : Convention::SystemV;
  }
  bool system_v = true, windows = true;
  for (Dwarf_Die& child : children(function)) {
    if (dwarf_tag(&child) != DW_TAG_formal_parameter || !travels(&child, index)) {
      continue;
    }
    if (const std::optional<Told> told = told_of(function, &child, begin)) {
      system_v = system_v && is_in_system_v(function, &child, *told, index);
      windows = windows && is_in_windows(function, &child, *told, index);
    }
  }
  const bool keeps = keeps_as_in_windows(function, index);
  if (system_v && !keeps) {
    return Convention::SystemV;
  }
  if (windows) {
    return Convention::Windows;
  }
  // Vectors and Fortran's strings may lie elsewhere than the text of System V has them.
  return keeps ? Convention::Unknown : Convention::SystemV;
}

}  // namespace dj
