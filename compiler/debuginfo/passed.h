// SPDX-License-Identifier: Apache-2.0
// Where optimized code got a parameter from, when its location begins only behind the prologue (as
// clang describes them). Only for this room.
#pragma once
#include <optional>

#include "compiler/debuginfo/dwarf_index.h"
#include "compiler/debuginfo/value_location.h"

namespace dj {

// Where the parameter is before the first instruction of `function`, verdicts by its location list:
// the caller's part of the stack that a location names (counted from the canonical frame address,
// System V ABI 3.2.3), else the register of the calling convention, if the list describes all of
// the value somewhere and nothing says that the compiler has changed how the function is called
// (`is_clone`; DW_CC_nocall; an early LLVM, which does not note it; of a local function, parameters
// before it that have gone; others that come otherwise). None: not known. location: the parameter's
// DW_AT_location, a list.
std::optional<ValueLocation> passed_parameter(Dwarf_Die* function, Dwarf_Die* parameter,
                                              Dwarf_Attribute* location, bool is_clone,
                                              DwarfIndex& index);
// The same of a parameter whose one location `op` counts from a register that the prologue moves
// (clang's frame base, rsp or rbp), where that leads to the caller's part of the stack. None: it
// does not, or the unwind table does not tell where the frame is.
std::optional<ValueLocation> stack_parameter(const Dwarf_Op& op, Dwarf_Die* function,
                                             DwarfIndex& index);

}  // namespace dj
