// What a function was called with, asked of its caller, as debuggers do (DW_OP_entry_value). Only
// for this room.
#pragma once
#include "compiler/debuginfo/dwarf_ops.h"

namespace dj {

// The word that register `reg` (DWARF's number) had when the function at context.pc was entered.
// The program's return address chooses, among the calls of the function that debug info describes,
// the one that it came from; what that passes is computed from what is left of the caller's
// registers and frame. Where it came from elsewhere, the handler reads address 0, which
// is its error. The error: no call says it.
Result<LocExpr> value_at_entry(int reg, const OpContext& context);

}  // namespace dj
