// SPDX-License-Identifier: Apache-2.0
// Numbers of 128 bits, and those with a fraction that are no doubles, inside of locations. Whole
// ones are the machine's; the agent computes the others, and divides.
#pragma once
#include "compiler/lower/code.h"
#include "compiler/stages/location.h"

namespace dj::ir {

// LocStep::Convert of a number in one form to another.
llvm::Value* convert_number(Code& code, const LocStep& step, llvm::Value* number);
// LocStep::Join and WideCompute. span: where a division by zero is an error.
llvm::Value* wide_step(Code& code, const LocStep& step, llvm::Value* left, llvm::Value* right,
                       Span span);

}  // namespace dj::ir
