// SPDX-License-Identifier: Apache-2.0
// more_stack() recognises functions that ask for more stack (-fsplit-stack). Where its stack does
// not suffice, such a function calls __morestack. That one calls the code two instructions behind
// the call, on a new stack, and comes back to a return of the function. So one call of the function
// passes two returns.
#pragma once
#include "arch/x86_64/module.h"

namespace dj::arch {

// Returns the function that `function` asks for more stack; {0, 0}: it asks none.
FunctionRange more_stack(const Module& module, const Function& function);

}  // namespace dj::arch
