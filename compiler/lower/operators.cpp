// Operators on ints (wrapping; shift counts modulo 64; division guarded) and on strings.
#include "compiler/lower/body.h"

namespace dj::ir {

using ast::BinOp;

Value Body::visit(const Expr&, const Unary& node) {
  switch (node.op) {
    case ast::UnOp::Not:
      return {b_.CreateZExt(b_.CreateNot(condition(*node.operand)), unit_.word)};
    case ast::UnOp::Neg:
      if (node.operand->type == Type::Double)
        return {b_.CreateXor(number(*node.operand), unit_.number(INT64_MIN))};
      return {b_.CreateNeg(number(*node.operand))};
    case ast::UnOp::BitNot:
      return {b_.CreateNot(number(*node.operand))};
    case ast::UnOp::Plus:
      break;
  }
  return {number(*node.operand)};
}

Value Body::visit(const Expr& expr, const Binary& node) {
  if (node.op == BinOp::LogAnd || node.op == BinOp::LogOr) return logical(node);
  if (node.op >= BinOp::Lt && node.op <= BinOp::Ne)
    return {b_.CreateZExt(condition(expr), unit_.word)};
  Value left = expression(*node.left);
  Value right = expression(*node.right);
  if (node.op == BinOp::Concat) return concat(left, right);
  if (expr.type == Type::Double) return {compute_doubles(node.op, left.word, right.word)};
  return {arithmetic(node.op, left.word, right.word, expr.span)};
}

llvm::Value* Body::arithmetic(BinOp op, llvm::Value* left, llvm::Value* right, Span span) {
  auto count = [&] { return b_.CreateAnd(right, unit_.number(63)); };
  switch (op) {
    case BinOp::Add:
      return b_.CreateAdd(left, right);
    case BinOp::Sub:
      return b_.CreateSub(left, right);
    case BinOp::Mul:
      return b_.CreateMul(left, right);
    case BinOp::Div:
      return divide(false, left, right, span);
    case BinOp::Mod:
      return divide(true, left, right, span);
    case BinOp::Shl:
      return b_.CreateShl(left, count());
    case BinOp::Shr:
      return b_.CreateAShr(left, count());
    case BinOp::UShr:
      return b_.CreateLShr(left, count());
    case BinOp::And:
      return b_.CreateAnd(left, right);
    case BinOp::Or:
      return b_.CreateOr(left, right);
    case BinOp::Xor:
      return b_.CreateXor(left, right);
    default:
      break;
  }
  CHECK(!"not an arithmetic operator");
  __builtin_unreachable();
}

llvm::Value* Body::divide(bool remainder, llvm::Value* left, llvm::Value* right, Span span) {
  fail_if(b_.CreateICmpEQ(right, unit_.number(0)), span, abi::kErrDivideByZero, unit_.number(0));
  // By -1 the machine's division would trap for the smallest number.
  llvm::Value* minus_one = b_.CreateICmpEQ(right, unit_.number(-1));
  llvm::Value* divisor = b_.CreateSelect(minus_one, unit_.number(1), right);
  if (remainder) return b_.CreateSRem(left, divisor);  // x % 1 == x % -1 == 0
  return b_.CreateSelect(minus_one, b_.CreateNeg(left), b_.CreateSDiv(left, divisor));
}

llvm::Value* Body::compare(BinOp op, llvm::Value* left, llvm::Value* right) {
  switch (op) {
    case BinOp::Lt:
      return b_.CreateICmpSLT(left, right);
    case BinOp::Gt:
      return b_.CreateICmpSGT(left, right);
    case BinOp::Le:
      return b_.CreateICmpSLE(left, right);
    case BinOp::Ge:
      return b_.CreateICmpSGE(left, right);
    case BinOp::Eq:
      return b_.CreateICmpEQ(left, right);
    case BinOp::Ne:
      return b_.CreateICmpNE(left, right);
    default:
      break;
  }
  CHECK(!"not a comparison");
  __builtin_unreachable();
}

llvm::Value* Body::compare_strings(BinOp op, Value left, Value right) {
  llvm::Value *a = as_pointer(left.word), *b = as_pointer(right.word);
  if (op == BinOp::Eq || op == BinOp::Ne) {
    if (left.interned && right.interned) return compare(op, left.word, right.word);
    llvm::Value* equal = b_.CreateCall(unit_.entry("dj_str_equal"), {a, b});
    return op == BinOp::Eq ? b_.CreateICmpNE(equal, unit_.number32(0))
                           : b_.CreateICmpEQ(equal, unit_.number32(0));
  }
  return compare(op, b_.CreateCall(unit_.entry("dj_str_compare"), {a, b}), unit_.number(0));
}

Value Body::concat(Value left, Value right) {
  CHECK(context_);
  llvm::Value* joined = b_.CreateCall(unit_.entry("dj_str_concat"),
                                      {context_, as_pointer(left.word), as_pointer(right.word)});
  return {b_.CreatePtrToInt(joined, unit_.word)};
}

Value Body::intern(Value string) {
  if (string.interned) return string;
  llvm::Value* one = b_.CreateCall(unit_.entry("dj_intern"), {as_pointer(string.word)});
  return {b_.CreatePtrToInt(one, unit_.word), true};
}

Value Body::or_empty(llvm::Value* word) {
  llvm::Value* empty = literal("").word;
  return {b_.CreateSelect(b_.CreateICmpEQ(word, unit_.number(0)), empty, word), true};
}

}  // namespace dj::ir
