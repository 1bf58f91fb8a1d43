// SPDX-License-Identifier: Apache-2.0
// Thunks: what compilers put in the place of one jump or return, so that the processor does not
// guess where it leads (retpolines, -mretpoline, -mindirect-branch, -mlvi-cfi), called or in place.
#pragma once
#include <cstdint>
#include <functional>

#include "arch/x86_64/module.h"

namespace dj::arch {

// The register that the code at `address` jumps to, and nothing else; kNoReg: it does something
// else.
//   call 2f; 1: pause; lfence; jmp 1b; 2: mov %reg,(%rsp); ret       lfence; jmp *%reg
uint8_t thunk_register(const Module& module, uint64_t address);

// The code at `address` does nothing but go where `reg` says: by a thunk there or elsewhere.
bool jumps_by(const Module& module, uint64_t address, uint8_t reg);

// The register that a `pop` fills; kNoReg: the instruction is no `pop` of a register.
uint8_t popped(const Insn& insn);

// Is there a thunk in the module, called or in a function's own code? Looks at bytes only.
bool has_thunks(const Module& module);

// Makes each of them the one instruction that it stands for, where it begins: a jump to a thunk and
// a thunk in the function's own code an indirect jump, or the call that leads to it an indirect
// call; and the `pop` of `pop %reg; lfence; jmp *%reg` a return. What is left of them leads
// nowhere. `is_others`: what stands at an address outside of `function` is none of its parts.
void read_thunks(const Module& module, Function& function,
                 const std::function<bool(uint64_t)>& is_others);

}  // namespace dj::arch
