// SPDX-License-Identifier: Apache-2.0
// leads() tells in which frame execution goes on behind an exit of a function. It reads that from
// what the function does to its stack pointer.
#pragma once
#include <cstddef>
#include <cstdint>

#include "arch/x86_64/module.h"

namespace dj::arch {

// Leads says where an exit leads. Back: to the caller, as far as the stack pointer tells. Away: to
// another frame, as that of setjmp()'s caller, of a nested function's outer function, or of a
// function that catches an exception; the call that is left this way does not return. Across: to a
// frame on another stack, which an earlier call of the same function has kept; that earlier call
// returns.
enum class Leads : uint8_t { Back, Away, Across };

// `exit`: the index of a return or an indirect jump of the function.
Leads leads(const Function& code, size_t exit);

// Whether the indirect jump `jump` (an index) is the second half of a return that is written as
// `pop` and `jmp`.
bool is_popped(const Function& code, size_t jump);

}  // namespace dj::arch
