// Numbers of 128 bits, and those with a fraction that are no doubles, inside of locations. Whole
// ones are the machine's; the agent computes the others, and divides.
#include "compiler/lower/body.h"
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

}  // namespace

llvm::Value* Body::convert_number(const LocStep& step, llvm::Value* number) {
  const auto from = static_cast<NumberForm>(step.a), to = static_cast<NumberForm>(step.b);
  llvm::Type* type = abi::is_wide(to) ? b_.getInt128Ty() : unit_.word;
  if (!abi::is_floating(from) && !abi::is_floating(to))
    return is_signed(from) ? b_.CreateSExtOrTrunc(number, type)
                           : b_.CreateZExtOrTrunc(number, type);
  llvm::Value* made = b_.CreateCall(
      unit_.entry("dj_convert_number"),
      {unit_.number32(static_cast<uint32_t>(from)), unit_.number32(static_cast<uint32_t>(to)),
       b_.CreateZExtOrTrunc(number, b_.getInt128Ty())});
  return b_.CreateZExtOrTrunc(made, type);
}

// Floating numbers' order is -1, 0, 1, or 2 where one is no number: then only != is true.
llvm::Value* Body::compare_wide(LocStep::Op op, NumberForm form, llvm::Value* left,
                                llvm::Value* right) {
  if (!abi::is_floating(form)) return b_.CreateICmp(predicate_of(op, is_signed(form)), left, right);
  llvm::Value* order = b_.CreateCall(unit_.entry("dj_wide_compare"),
                                     {unit_.number32(static_cast<uint32_t>(form)), left, right});
  llvm::Value* truth = b_.CreateICmp(predicate_of(op, true), order, unit_.number32(0));
  if (op == LocStep::Ne) return truth;
  return b_.CreateAnd(truth, b_.CreateICmpNE(order, unit_.number32(abi::kUnordered)));
}

llvm::Value* Body::wide_step(const LocStep& step, llvm::Value* left, llvm::Value* right,
                             Span span) {
  llvm::Type* wide = b_.getInt128Ty();
  if (step.op == LocStep::Join) {
    llvm::Value* high = b_.CreateShl(b_.CreateZExt(right, wide), uint64_t{64});
    return b_.CreateOr(high, b_.CreateZExt(left, wide));
  }
  const auto op = static_cast<LocStep::Op>(step.a);
  const auto form = static_cast<NumberForm>(step.b);
  if (op >= LocStep::Eq && op <= LocStep::Ge)
    return b_.CreateZExt(compare_wide(op, form, left, right), unit_.word);
  if (!abi::is_floating(form)) {
    if (llvm::Value* computed = compute_whole(b_, op, left, right)) return computed;
    fail_if(b_.CreateICmpEQ(right, llvm::ConstantInt::get(wide, 0)), span, abi::kErrDivideByZero,
            unit_.number(0));
  }
  return b_.CreateCall(unit_.entry("dj_wide_compute"),
                       {unit_.number32(static_cast<uint32_t>(form)),
                        unit_.number32(static_cast<uint32_t>(wide_op(op))), left, right});
}

}  // namespace dj::ir
