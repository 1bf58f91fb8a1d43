// SPDX-License-Identifier: Apache-2.0
// call_number() finds the number of a system call: what eax holds where a function enters the
// kernel, if all ways to the `syscall` set the same constant.
#pragma once
#include <cstdint>

#include "arch/x86_64/calls.h"
#include "arch/x86_64/flow.h"

namespace dj::arch {

// Returns the number of the system call that is instruction `at` (index) of flow's function.
// kUnknownNumber: it is computed, handed over by the caller, or differs.
int64_t call_number(Flow& flow, uint32_t at);

}  // namespace dj::arch
