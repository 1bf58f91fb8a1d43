// SPDX-License-Identifier: Apache-2.0
// Operators on ints, as scripts and locations have them: wrapping; shift counts modulo 64; division
// guarded.
#pragma once
#include "compiler/lower/code.h"
#include "compiler/stages/ast.h"

namespace dj::ir {

// + - * / % << >> >>> & | ^ of two words. span: where a division by zero is an error.
llvm::Value* arithmetic(Code& code, ast::BinOp op, llvm::Value* left, llvm::Value* right,
                        Span span);
// < <= > >= == != of two words with a sign, as i1.
llvm::Value* compare(Code& code, ast::BinOp op, llvm::Value* left, llvm::Value* right);

}  // namespace dj::ir
