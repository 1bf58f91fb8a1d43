// SPDX-License-Identifier: Apache-2.0
// Alignment check: handlers run with the program's AC flag, by which an access that is not aligned
// is a fault (SIGBUS). The agent makes no such access (unaligned.h), so handlers mostly need
// nothing. mind_alignment() makes those clear the flag that read the program's stack or vector
// registers.
#pragma once
#include <llvm/IR/Module.h>

namespace dj::ir {

// Attribute of functions with an access of memory that is in inline assembly, and may not be
// aligned.
inline constexpr const char* kUnaligned = "dj-unaligned";

// Changes handlers of `module`, behind optimise(). A handler with an access that may not be aligned
// clears the flag AC where it begins, and restores it where it ends. Reading the flag takes 0.5 to
// 1 ns.
void mind_alignment(llvm::Module& module);

}  // namespace dj::ir
