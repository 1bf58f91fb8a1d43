// Doubles: words like all others; the agent computes with them in general registers.
#include <bit>

#include "compiler/lower/body.h"

namespace dj::ir {

llvm::Value* Body::double_constant(double value) {
  return unit_.number(std::bit_cast<int64_t>(value));
}

Value Body::visit(const Expr&, const DoubleLit& node) { return {double_constant(node.value)}; }

Value Body::visit(const Expr&, const ToDouble& node) {
  if (const auto* literal = std::get_if<IntLit>(&node.operand->node))
    return {double_constant(static_cast<double>(literal->value))};
  return {double_of_int(number(*node.operand))};
}

llvm::Value* Body::double_of_int(llvm::Value* number) {
  return b_.CreateCall(unit_.entry("dj_double_of_int"), {number});
}

llvm::Value* Body::compute_doubles(ast::BinOp op, llvm::Value* left, llvm::Value* right) {
  return b_.CreateCall(unit_.entry("dj_double_compute"),
                       {unit_.number32(static_cast<uint32_t>(op)), left, right});
}

// The order is -1, 0, 1, or 2 where one is no number: then only != is true.
llvm::Value* Body::compare_doubles(ast::BinOp op, llvm::Value* left, llvm::Value* right) {
  llvm::Value* order = b_.CreateCall(unit_.entry("dj_double_compare"), {left, right});
  switch (op) {
    case ast::BinOp::Lt:
      return b_.CreateICmpSLT(order, unit_.number32(0));
    case ast::BinOp::Le:
      return b_.CreateICmpSLE(order, unit_.number32(0));
    case ast::BinOp::Gt:
      return b_.CreateICmpEQ(order, unit_.number32(1));
    case ast::BinOp::Ge:
      return b_.CreateICmpULT(order, unit_.number32(2));
    case ast::BinOp::Eq:
      return b_.CreateICmpEQ(order, unit_.number32(0));
    default:
      return b_.CreateICmpNE(order, unit_.number32(0));
  }
}

// 0 and -0 are one key.
llvm::Value* Body::double_key(llvm::Value* word) {
  llvm::Value* is_zero = b_.CreateICmpEQ(word, unit_.number(INT64_MIN));
  return b_.CreateSelect(is_zero, unit_.number(0), word);
}

Value Body::update_double(const GlobalSlot& slot, ast::BinOp op, llvm::Value* operand,
                          bool want_old) {
  return update_in_loop(slot, want_old,
                        [&](llvm::Value* old) { return compute_doubles(op, old, operand); });
}

}  // namespace dj::ir
