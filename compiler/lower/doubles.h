// SPDX-License-Identifier: Apache-2.0
// Doubles: words like all others, which hold their bits; the agent computes with them in general
// registers.
#pragma once
#include "compiler/lower/code.h"
#include "compiler/stages/ast.h"

namespace dj::ir {

llvm::Value* double_constant(Code& code, double value);
llvm::Value* double_of_int(Code& code, llvm::Value* number);
// + - * / % of two.
llvm::Value* compute_doubles(Code& code, ast::BinOp op, llvm::Value* left, llvm::Value* right);
// < <= > >= == !=, as i1; with one that is no number only != is true.
llvm::Value* compare_doubles(Code& code, ast::BinOp op, llvm::Value* left, llvm::Value* right);
// As an array's key: 0 and -0 are one.
llvm::Value* double_key(Code& code, llvm::Value* word);

}  // namespace dj::ir
