// SPDX-License-Identifier: Apache-2.0
// check_kernel_limits() refuses what a session of the kernel cannot do yet.
#pragma once
#include "compiler/diag/diag.h"
#include "runtime/run/compiled.h"

namespace dj {

// Reports the first probe that needs more than counting in the kernel. Call it with the patching
// options and handlers of a compiled script.
void check_kernel_limits(const Compiled& compiled, Diags& diags);

}  // namespace dj
