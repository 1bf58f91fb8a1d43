// SPDX-License-Identifier: Apache-2.0
// Exit frames: in which frame a function goes on where it leaves, as its stack pointer tells.
#pragma once
#include <cstddef>
#include <cstdint>

#include "arch/x86_64/module.h"

namespace dj::arch {

// Where an exit leads: back to the caller, as far as its stack pointer tells; to another frame, as
// that of setjmp()'s caller, a nested function's outer one, or who catches an exception: the call
// that is left so does not return; to a frame of another stack, which an earlier call of the same
// function has kept: that one returns.
enum class Leads : uint8_t { Back, Away, Across };

// `exit`: the index of a return or an indirect jump of the function.
Leads leads(const Function& code, size_t exit);

// Is the indirect jump the second half of a return that is written as `pop` and `jmp`?
bool is_popped(const Function& code, size_t jump);

}  // namespace dj::arch
