// SPDX-License-Identifier: Apache-2.0
// read_thunks() replaces thunks by the jumps and returns that they stand for. A thunk is code that
// a compiler puts in the place of one jump or return so that the processor does not guess where it
// leads (retpolines, -mretpoline, -mindirect-branch, -mlvi-cfi). A function calls it or has it in
// its own code.
#pragma once
#include <cstdint>
#include <functional>

#include "arch/x86_64/module.h"

namespace dj::arch {

// Returns the register that the code at `address` jumps to, if it does only that; else kNoReg.
// Outside of the module it is what ModuleText::thunks_outside says.
//   call 2f; 1: pause; lfence; jmp 1b; 2: mov %reg,(%rsp); ret       lfence; jmp *%reg
uint8_t thunk_register(const Module& module, uint64_t address);

// Whether the code at `address` only jumps to where `reg` points, by a thunk there or elsewhere.
bool jumps_by(const Module& module, uint64_t address, uint8_t reg);

// Returns the register that the `pop` fills; kNoReg: the instruction is no `pop` of a register.
uint8_t popped(const Insn& insn);

// Whether the module has a thunk, for calls or in a function's own code, or jumps to one outside.
// Looks at bytes only.
bool has_thunks(const Module& module);

// Replaces each thunk by the one instruction that it stands for, where the thunk begins. A jump to
// one of ModuleText::return_thunks becomes a return. A jump to
// another thunk and a thunk in the function's own code become an indirect jump; a call that leads
// to such a thunk becomes an indirect call; the `pop` of `pop %reg; lfence; jmp *%reg` becomes a
// return. The thunk's other instructions then lead nowhere. `is_others`: whether the code at an
// address outside of `function` is no part of it.
void read_thunks(const Module& module, Function& function,
                 const std::function<bool(uint64_t)>& is_others);

}  // namespace dj::arch
