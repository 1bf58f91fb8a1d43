// SPDX-License-Identifier: Apache-2.0
// Doubles: calls of the agent.
#include "compiler/lower/doubles.h"

#include <bit>

namespace dj::ir {

llvm::Value* double_constant(Code& code, double value) {
  return code.number(std::bit_cast<int64_t>(value));
}

llvm::Value* double_of_int(Code& code, llvm::Value* number) {
  return code.call("dj_double_of_int", {number});
}

llvm::Value* compute_doubles(Code& code, ast::BinOp op, llvm::Value* left, llvm::Value* right) {
  return code.call("dj_double_compute", {code.number32(static_cast<uint32_t>(op)), left, right});
}

// The order is -1, 0, 1, or 2 where one is no number: then only != is true.
llvm::Value* compare_doubles(Code& code, ast::BinOp op, llvm::Value* left, llvm::Value* right) {
  llvm::Value* order = code.call("dj_double_compare", {left, right});
  switch (op) {
    case ast::BinOp::Lt:
      return code.b.CreateICmpSLT(order, code.number32(0));
    case ast::BinOp::Le:
      return code.b.CreateICmpSLE(order, code.number32(0));
    case ast::BinOp::Gt:
      return code.b.CreateICmpEQ(order, code.number32(1));
    case ast::BinOp::Ge:
      return code.b.CreateICmpULT(order, code.number32(2));
    case ast::BinOp::Eq:
      return code.b.CreateICmpEQ(order, code.number32(0));
    default:
      return code.b.CreateICmpNE(order, code.number32(0));
  }
}

llvm::Value* double_key(Code& code, llvm::Value* word) {
  llvm::Value* is_zero = code.b.CreateICmpEQ(word, code.number(INT64_MIN));
  return code.b.CreateSelect(is_zero, code.number(0), word);
}

}  // namespace dj::ir
