// SPDX-License-Identifier: Apache-2.0
// Operations of expressions: each operator by the type of its operands, and conditions.
#include "compiler/lower/doubles.h"
#include "compiler/lower/nodes.h"
#include "compiler/lower/operators.h"
#include "compiler/lower/strings.h"

namespace dj::ir {

using ast::BinOp;

namespace {

Value logical(Body& body, const Binary& node) {
  Code& code = body.code();
  bool is_and = node.op == BinOp::LogAnd;
  llvm::Value* left = body.condition(*node.left);
  llvm::BasicBlock* from = code.b.GetInsertBlock();
  llvm::BasicBlock *more = code.block("right"), *end = code.block("logical");
  code.b.CreateCondBr(left, is_and ? more : end, is_and ? end : more);
  code.b.SetInsertPoint(more);
  llvm::Value* right = body.condition(*node.right);
  llvm::BasicBlock* more_end = code.b.GetInsertBlock();
  code.b.CreateBr(end);
  code.b.SetInsertPoint(end);
  llvm::PHINode* value = code.b.CreatePHI(code.b.getInt1Ty(), 2);
  value->addIncoming(code.b.getInt1(!is_and), from);
  value->addIncoming(right, more_end);
  return {code.b.CreateZExt(value, code.unit.word)};
}

}  // namespace

llvm::Value* comparison(Body& body, const Binary& node) {
  Code& code = body.code();
  Value left = body.expression(*node.left);
  Value right = body.expression(*node.right);
  if (node.left->type == Type::Double) return compare_doubles(code, node.op, left.word, right.word);
  return node.left->type == Type::Str ? compare_strings(code, node.op, left, right)
                                      : compare(code, node.op, left.word, right.word);
}

Value lower_node(Body& body, const Expr&, const Unary& node) {
  Code& code = body.code();
  switch (node.op) {
    case ast::UnOp::Not:
      return {code.b.CreateZExt(code.b.CreateNot(body.condition(*node.operand)), code.unit.word)};
    case ast::UnOp::Neg:
      if (node.operand->type == Type::Double)
        return {code.b.CreateXor(body.number(*node.operand), code.number(INT64_MIN))};
      return {code.b.CreateNeg(body.number(*node.operand))};
    case ast::UnOp::BitNot:
      return {code.b.CreateNot(body.number(*node.operand))};
    case ast::UnOp::Plus:
      break;
  }
  return {body.number(*node.operand)};
}

Value lower_node(Body& body, const Expr& expr, const Binary& node) {
  Code& code = body.code();
  if (node.op == BinOp::LogAnd || node.op == BinOp::LogOr) return logical(body, node);
  if (node.op >= BinOp::Lt && node.op <= BinOp::Ne)
    return {code.b.CreateZExt(body.condition(expr), code.unit.word)};
  Value left = body.expression(*node.left);
  Value right = body.expression(*node.right);
  if (node.op == BinOp::Concat) return concat(code, left, right);
  if (expr.type == Type::Double) return {compute_doubles(code, node.op, left.word, right.word)};
  return {arithmetic(code, node.op, left.word, right.word, expr.span)};
}

Value lower_node(Body& body, const Expr&, const Ternary& node) {
  Code& code = body.code();
  llvm::Value* chosen = body.condition(*node.condition);
  llvm::BasicBlock *yes = code.block("yes"), *no = code.block("no"), *end = code.block("chosen");
  code.b.CreateCondBr(chosen, yes, no);
  code.b.SetInsertPoint(yes);
  Value then = body.expression(*node.then);
  llvm::BasicBlock* yes_end = code.b.GetInsertBlock();
  code.b.CreateBr(end);
  code.b.SetInsertPoint(no);
  Value otherwise = body.expression(*node.otherwise);
  llvm::BasicBlock* no_end = code.b.GetInsertBlock();
  code.b.CreateBr(end);
  code.b.SetInsertPoint(end);
  llvm::PHINode* value = code.b.CreatePHI(code.unit.word, 2);
  value->addIncoming(then.word, yes_end);
  value->addIncoming(otherwise.word, no_end);
  return {value, then.interned && otherwise.interned};
}

}  // namespace dj::ir
