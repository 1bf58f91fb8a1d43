// SPDX-License-Identifier: Apache-2.0
// Operators on ints.
#include "compiler/lower/operators.h"

namespace dj::ir {

using ast::BinOp;

namespace {

llvm::Value* divide(Code& code, bool remainder, llvm::Value* left, llvm::Value* right, Span span) {
  code.fail_if(code.b.CreateICmpEQ(right, code.number(0)), span, abi::kErrDivideByZero,
               code.number(0));
  // By -1 the machine's division would trap for the smallest number.
  llvm::Value* minus_one = code.b.CreateICmpEQ(right, code.number(-1));
  llvm::Value* divisor = code.b.CreateSelect(minus_one, code.number(1), right);
  if (remainder) return code.b.CreateSRem(left, divisor);  // x % 1 == x % -1 == 0
  return code.b.CreateSelect(minus_one, code.b.CreateNeg(left), code.b.CreateSDiv(left, divisor));
}

}  // namespace

llvm::Value* arithmetic(Code& code, BinOp op, llvm::Value* left, llvm::Value* right, Span span) {
  auto count = [&] { return code.b.CreateAnd(right, code.number(63)); };
  switch (op) {
    case BinOp::Add:
      return code.b.CreateAdd(left, right);
    case BinOp::Sub:
      return code.b.CreateSub(left, right);
    case BinOp::Mul:
      return code.b.CreateMul(left, right);
    case BinOp::Div:
      return divide(code, false, left, right, span);
    case BinOp::Mod:
      return divide(code, true, left, right, span);
    case BinOp::Shl:
      return code.b.CreateShl(left, count());
    case BinOp::Shr:
      return code.b.CreateAShr(left, count());
    case BinOp::UShr:
      return code.b.CreateLShr(left, count());
    case BinOp::And:
      return code.b.CreateAnd(left, right);
    case BinOp::Or:
      return code.b.CreateOr(left, right);
    case BinOp::Xor:
      return code.b.CreateXor(left, right);
    default:
      break;
  }
  CHECK(!"not an arithmetic operator");
  __builtin_unreachable();
}

llvm::Value* compare(Code& code, BinOp op, llvm::Value* left, llvm::Value* right) {
  switch (op) {
    case BinOp::Lt:
      return code.b.CreateICmpSLT(left, right);
    case BinOp::Gt:
      return code.b.CreateICmpSGT(left, right);
    case BinOp::Le:
      return code.b.CreateICmpSLE(left, right);
    case BinOp::Ge:
      return code.b.CreateICmpSGE(left, right);
    case BinOp::Eq:
      return code.b.CreateICmpEQ(left, right);
    case BinOp::Ne:
      return code.b.CreateICmpNE(left, right);
    default:
      break;
  }
  CHECK(!"not a comparison");
  __builtin_unreachable();
}

}  // namespace dj::ir
