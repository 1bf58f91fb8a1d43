// SPDX-License-Identifier: Apache-2.0
// Local functions that LLVM has changed without a note: before its version 17 it takes away results
// that no caller uses and parameters for which all callers pass a constant, puts what a pointer
// leads to in the pointer's place, and leaves DW_AT_calling_convention as it was. Only for this
// room.
#pragma once
#include "compiler/debuginfo/dwarf_index.h"

namespace dj {

// An earlier LLVM has optimized the function and knows all its callers: only what the debug
// information says of a place is sure, and no convention.
bool may_be_changed_silently(Dwarf_Die* function, DwarfIndex& index);

}  // namespace dj
