// SPDX-License-Identifier: Apache-2.0
// Where the System V ABI (3.2.3) puts arguments and results. Only for this room.
#pragma once
#include "compiler/debuginfo/dwarf_index.h"
#include "compiler/debuginfo/value_location.h"

namespace dj {

// Before the first instruction. parameter: one of the function's DW_TAG_formal_parameter children.
Result<ValueLocation> system_v_argument(Dwarf_Die* function, Dwarf_Die* parameter,
                                        DwarfIndex& index);

// Behind the last instruction. The result's type must not be void.
Result<ValueLocation> system_v_result(Dwarf_Die* function, DwarfIndex& index);

// So many bytes above the return address, before the first instruction.
ValueLocation stack_location(uint64_t offset);

// A value, or its part, that stands in a register; reg: its DWARF number.
ValueLocation register_word(int64_t reg);

}  // namespace dj
