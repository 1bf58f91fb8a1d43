// SPDX-License-Identifier: Apache-2.0
// What detours and the functions that they call agree on: convention, parameters, and where the
// program's stack pointer is.
#pragma once
#include <string>

#include "arch/x86_64/detour.h"
#include "compiler/lower/unit.h"

namespace dj::ir {

constexpr uint32_t kRegisterArguments = 6;

// A function without a body, called by detours: six registers, then `pushed` words.
llvm::Function* make_handler(Unit& unit, const std::string& name, arch::Form form, size_t pushed);
// One that djtap itself calls, without parameters.
llvm::Function* make_host_handler(Unit& unit, const std::string& name);

// rsp at the probed instruction: above our return address, the pushed arguments and the detour's
// frame.
llvm::Value* stack_pointer(Unit& unit, llvm::IRBuilder<>& b, arch::Form form, size_t pushed);

}  // namespace dj::ir
