// SPDX-License-Identifier: Apache-2.0
// Scalars: globals that are one word of the arena (Storage::Scalar). Each operation is atomic by
// itself: a locked instruction, or a compare-and-swap loop.
#pragma once
#include "compiler/lower/code.h"
#include "compiler/stages/ast.h"

namespace dj::ir {

llvm::Value* load_scalar(Code& code, const GlobalSlot& slot);
void store_scalar(Code& code, const GlobalSlot& slot, llvm::Value* word);
// global op= operand, of ints; returns the word before, or after. span: where a division by zero is
// an error.
llvm::Value* update_scalar(Code& code, const GlobalSlot& slot, ast::BinOp op, llvm::Value* operand,
                           Span span, bool want_old);
// The same of doubles.
llvm::Value* update_double(Code& code, const GlobalSlot& slot, ast::BinOp op, llvm::Value* operand,
                           bool want_old);
// global .= tail; returns what it is then.
Value append_scalar(Code& code, const GlobalSlot& slot, Value tail);
// The word of a Counter or Scalar, which is 0 from here on.
llvm::Value* take_global(Code& code, GlobalId id);

}  // namespace dj::ir
