// SPDX-License-Identifier: Apache-2.0
// Where a function's arguments are before its first instruction, and its result behind its last, by
// the convention of its calls. Needed because unoptimized code describes only the stack slots that
// its prologue is going to fill. Only for this room.
#pragma once
#include "compiler/debuginfo/dwarf_index.h"
#include "compiler/debuginfo/value_location.h"

namespace dj {

// `parameter`: one of the function's DW_TAG_formal_parameter children.
Result<ValueLocation> argument_at_entry(Dwarf_Die* function, Dwarf_Die* parameter,
                                        DwarfIndex& index);

// clang has changed the function's parameters or result, as it may where it knows all callers
// (DW_CC_nocall).
bool is_called_otherwise(Dwarf_Die* function);

// Where the function's result is behind its last instruction. Its type must not be void.
Result<ValueLocation> result_at_exit(Dwarf_Die* function, DwarfIndex& index);

}  // namespace dj
