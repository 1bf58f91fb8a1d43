// SPDX-License-Identifier: Apache-2.0
// Functions that ask for more stack (-fsplit-stack): where theirs does not reach they call
// __morestack, which calls what stands two instructions behind, on a new stack, and comes back to a
// return of their own. So one call passes two returns.
#pragma once
#include "arch/x86_64/module.h"

namespace dj::arch {

// The function that `function` asks for more stack; {0, 0}: it asks none.
FunctionRange more_stack(const Module& module, const Function& function);

}  // namespace dj::arch
