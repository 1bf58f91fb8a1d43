// SPDX-License-Identifier: Apache-2.0
// Where the convention of 64-bit Windows puts arguments and results: functions with the attribute
// ms_abi (Wine's, EFI's). Only for this room.
#pragma once
#include "compiler/debuginfo/dwarf_index.h"
#include "compiler/debuginfo/value_location.h"

namespace dj {

// Each parameter has one place: of four registers, then of the stack, which has room for these four
// first. The function may keep its register arguments in that room.
constexpr int kWindowsRegisters = 4;

// The parameter's place, from 0; its room, or itself, lies 8 bytes a place above the return
// address. None: it, or what comes before it, travels as compilers differ about.
std::optional<int> windows_place(Dwarf_Die* function, Dwarf_Die* parameter, DwarfIndex& index);

// As system_v_argument() and system_v_result(). The error: compilers differ, so it is not known.
Result<ValueLocation> windows_argument(Dwarf_Die* function, Dwarf_Die* parameter,
                                       DwarfIndex& index);
Result<ValueLocation> windows_result(Dwarf_Die* function, DwarfIndex& index);

}  // namespace dj
