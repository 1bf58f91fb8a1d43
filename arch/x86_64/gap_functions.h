// SPDX-License-Identifier: Apache-2.0
// Gap functions: code that neither a symbol nor call frame information calls a function, in which
// bytes of a system call stand. Stripped libraries without .eh_frame have such code (musl's).
#pragma once
#include <vector>

#include "arch/x86_64/module.h"

namespace dj::arch {

// Returns the gap functions of `module`, ascending. One begins where code is called or its address
// is taken, behind an instruction that control does not pass, and no jump crosses its begin; so
// two functions of which this cannot be shown are one here. What does not decode is in none.
std::vector<FunctionRange> find_gap_functions(const Module& module);

}  // namespace dj::arch
