// SPDX-License-Identifier: Apache-2.0
// What a function was called with, asked of its caller, as debuggers do (DW_OP_entry_value). Only
// for this room.
#pragma once
#include <variant>

#include "compiler/debuginfo/dwarf_ops.h"

namespace dj {

// What a call passes: the word in a register (DWARF's number), or what a parameter (its
// DW_TAG_formal_parameter) was given that this copy of the function does not get any more.
using Given = std::variant<int, Dwarf_Die>;

// That word (or the one behind it: `word` 1), when the function at context.pc was entered. The
// program's return address chooses, among the calls of the function that debug info describes, the
// one that it came from; what that passes is computed from what is left of the caller's registers
// and frame. Where it came from elsewhere, the handler reads address 0, which is its error. The
// error: no call says it.
Result<LocExpr> value_at_entry(const Given& given, int word, const OpContext& context);

}  // namespace dj
