// SPDX-License-Identifier: Apache-2.0
// Results that compilers take away where no caller uses them, and that debug information still has.
#pragma once
#include "compiler/debuginfo/dwarf_index.h"

namespace dj {

// Whether calls of the function that the debug information describes use what it returns: one does,
// by the instructions behind it, or none is known. Where one does, no compiler has taken the result
// away.
bool callers_use_result(Dwarf_Die* function, DwarfIndex& index);

}  // namespace dj
