// SPDX-License-Identifier: Apache-2.0
// Results that compilers take away where no caller uses them, and that debug information still has.
#pragma once
#include "compiler/debuginfo/dwarf_index.h"

namespace dj {

// Whether callers read each register in which the function returns its result, by the instructions
// behind the direct calls of it, or there is no such call. No compiler has taken away what they
// read.
bool callers_use_result(Dwarf_Die* function, DwarfIndex& index);

}  // namespace dj
