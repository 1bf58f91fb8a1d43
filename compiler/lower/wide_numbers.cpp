// SPDX-License-Identifier: Apache-2.0
// Wide numbers: what is computed here, and what the agent does.
#include "compiler/lower/wide_numbers.h"

#include "runtime/shared/soft_double.h"

namespace dj::ir {

namespace {

using abi::WideOp;

bool is_signed(NumberForm form) {
  return form == NumberForm::Signed || form == NumberForm::WideSigned;
}

WideOp wide_op(LocStep::Op op) {
  switch (op) {
    case LocStep::Sub:
      return WideOp::Sub;
    case LocStep::Mul:
      return WideOp::Mul;
    case LocStep::Div:
      return WideOp::Div;
    case LocStep::Mod:
      return WideOp::Mod;
    default:
      CHECK(op == LocStep::Add);
      return WideOp::Add;
  }
}

llvm::CmpInst::Predicate predicate_of(LocStep::Op op, bool with_sign) {
  using P = llvm::CmpInst::Predicate;
  switch (op) {
    case LocStep::Eq:
      return P::ICMP_EQ;
    case LocStep::Ne:
      return P::ICMP_NE;
    case LocStep::Lt:
      return with_sign ? P::ICMP_SLT : P::ICMP_ULT;
    case LocStep::Le:
      return with_sign ? P::ICMP_SLE : P::ICMP_ULE;
    case LocStep::Gt:
      return with_sign ? P::ICMP_SGT : P::ICMP_UGT;
    default:
      return with_sign ? P::ICMP_SGE : P::ICMP_UGE;
  }
}

llvm::Value* compute_whole(llvm::IRBuilder<>& b, LocStep::Op op, llvm::Value* left,
                           llvm::Value* right) {
  llvm::Value* count = b.CreateAnd(right, llvm::ConstantInt::get(right->getType(), 127));
  switch (op) {
    case LocStep::Add:
      return b.CreateAdd(left, right);
    case LocStep::Sub:
      return b.CreateSub(left, right);
    case LocStep::Mul:
      return b.CreateMul(left, right);
    case LocStep::And:
      return b.CreateAnd(left, right);
    case LocStep::Or:
      return b.CreateOr(left, right);
    case LocStep::Xor:
      return b.CreateXor(left, right);
    case LocStep::Shl:
      return b.CreateShl(left, count);
    case LocStep::Shr:
      return b.CreateLShr(left, count);
    case LocStep::Sar:
      return b.CreateAShr(left, count);
    default:
      return nullptr;
  }
}

// Floating numbers' order is -1, 0, 1, or 2 where one is no number: then only != is true.
llvm::Value* compare_wide(Code& code, LocStep::Op op, NumberForm form, llvm::Value* left,
                          llvm::Value* right) {
  if (!abi::is_floating(form))
    return code.b.CreateICmp(predicate_of(op, is_signed(form)), left, right);
  llvm::Value* order =
      code.call("dj_wide_compare", {code.number32(static_cast<uint32_t>(form)), left, right});
  llvm::Value* truth = code.b.CreateICmp(predicate_of(op, true), order, code.number32(0));
  if (op == LocStep::Ne) return truth;
  return code.b.CreateAnd(truth, code.b.CreateICmpNE(order, code.number32(abi::kUnordered)));
}

}  // namespace

llvm::Value* convert_number(Code& code, const LocStep& step, llvm::Value* number) {
  const auto from = static_cast<NumberForm>(step.a), to = static_cast<NumberForm>(step.b);
  llvm::Type* type = abi::is_wide(to) ? code.b.getInt128Ty() : code.unit.word;
  if (!abi::is_floating(from) && !abi::is_floating(to))
    return is_signed(from) ? code.b.CreateSExtOrTrunc(number, type)
                           : code.b.CreateZExtOrTrunc(number, type);
  llvm::Value* made =
      code.call("dj_convert_number", {code.number32(static_cast<uint32_t>(from)),
                                      code.number32(static_cast<uint32_t>(to)),
                                      code.b.CreateZExtOrTrunc(number, code.b.getInt128Ty())});
  return code.b.CreateZExtOrTrunc(made, type);
}

llvm::Value* wide_step(Code& code, const LocStep& step, llvm::Value* left, llvm::Value* right,
                       Span span) {
  llvm::Type* wide = code.b.getInt128Ty();
  if (step.op == LocStep::Join) {
    llvm::Value* high = code.b.CreateShl(code.b.CreateZExt(right, wide), uint64_t{64});
    return code.b.CreateOr(high, code.b.CreateZExt(left, wide));
  }
  const auto op = static_cast<LocStep::Op>(step.a);
  const auto form = static_cast<NumberForm>(step.b);
  if (op >= LocStep::Eq && op <= LocStep::Ge)
    return code.b.CreateZExt(compare_wide(code, op, form, left, right), code.unit.word);
  if (!abi::is_floating(form)) {
    if (llvm::Value* computed = compute_whole(code.b, op, left, right)) return computed;
    code.fail_if(code.b.CreateICmpEQ(right, llvm::ConstantInt::get(wide, 0)), span,
                 abi::kErrDivideByZero, code.number(0));
  }
  return code.call("dj_wide_compute",
                   {code.number32(static_cast<uint32_t>(form)),
                    code.number32(static_cast<uint32_t>(wide_op(op))), left, right});
}

}  // namespace dj::ir
