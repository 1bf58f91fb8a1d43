// SPDX-License-Identifier: Apache-2.0
// find_gap_functions() finds gap functions: code with bytes of a system call in it that neither a
// symbol nor call frame information covers. Stripped libraries without .eh_frame have such code
// (musl's).
#pragma once
#include <vector>

#include "arch/x86_64/module.h"

namespace dj::arch {

// Returns the gap functions of `module`, ascending. A gap function begins where code is called or
// its address is taken, behind an instruction that control does not pass, if no jump crosses its
// begin. Two functions for which djtap cannot show this are one function here. Bytes that do not
// decode are in no function.
std::vector<FunctionRange> find_gap_functions(const Module& module);

}  // namespace dj::arch
