// Expressions without side effects of their own: literals, references, conditions, reads of arrays
// and aggregates. Operators are in operators.cpp, assignments in places.cpp, calls in calls.cpp.
#include "compiler/lower/body.h"

namespace dj::ir {

Value Body::expression(const Expr& expr) {
  return std::visit([&](const auto& node) { return visit(expr, node); }, expr.node);
}

llvm::Value* Body::condition(const Expr& expr) {
  if (const auto* node = std::get_if<Binary>(&expr.node)) {
    if (node->op >= ast::BinOp::Lt && node->op <= ast::BinOp::Ne) {
      Value left = expression(*node->left);
      Value right = expression(*node->right);
      if (node->left->type == Type::Double) return compare_doubles(node->op, left.word, right.word);
      return node->left->type == Type::Str ? compare_strings(node->op, left, right)
                                           : compare(node->op, left.word, right.word);
    }
  }
  llvm::Value* word = expression(expr).word;
  if (expr.type == Type::Str) {  // true unless empty
    return b_.CreateICmpNE(b_.CreateLoad(unit_.half, as_pointer(word)), unit_.number32(0));
  }
  if (expr.type == Type::Double) word = b_.CreateShl(word, 1);  // -0 is false, too
  return b_.CreateICmpNE(word, unit_.number(0));
}

Value Body::literal(const std::string& text) {
  llvm::LoadInst* word = b_.CreateLoad(unit_.word, unit_.address(unit_.constant_word(text)));
  // Written before the first handler runs, never again.
  word->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(unit_.context, {}));
  return {word, true};
}

Value Body::visit(const Expr&, const IntLit& node) { return {unit_.number(node.value)}; }

Value Body::visit(const Expr&, const StrLit& node) { return literal(node.value); }

Value Body::visit(const Expr&, const LocalRef& node) {
  return {b_.CreateLoad(unit_.word, locals_[node.local])};
}

Value Body::visit(const Expr&, const GlobalRef& node) {
  const Global& global = unit_.program.globals[node.global];
  const GlobalSlot& slot = unit_.layout.globals[node.global];
  if (global.storage == Storage::Counter) {
    return {b_.CreateCall(unit_.entry("dj_count_read"), {unit_.number32(slot.counter)})};
  }
  CHECK(global.storage == Storage::Scalar);
  llvm::Value* word = load_scalar(slot);
  return global.value == Type::Str ? or_empty(word) : Value{word};
}

Value Body::visit(const Expr& expr, const ElementRef& node) {
  llvm::Value* where = keys(node.keys);
  llvm::Value* word = b_.CreateCall(unit_.entry("dj_map_get"), {map(node.array), where});
  return expr.type == Type::Str ? or_empty(word) : Value{word};
}

Value Body::visit(const Expr&, const Ternary& node) {
  llvm::Value* chosen = condition(*node.condition);
  llvm::BasicBlock *yes = block("yes"), *no = block("no"), *end = block("chosen");
  b_.CreateCondBr(chosen, yes, no);
  b_.SetInsertPoint(yes);
  Value then = expression(*node.then);
  llvm::BasicBlock* yes_end = b_.GetInsertBlock();
  b_.CreateBr(end);
  b_.SetInsertPoint(no);
  Value otherwise = expression(*node.otherwise);
  llvm::BasicBlock* no_end = b_.GetInsertBlock();
  b_.CreateBr(end);
  b_.SetInsertPoint(end);
  llvm::PHINode* value = b_.CreatePHI(unit_.word, 2);
  value->addIncoming(then.word, yes_end);
  value->addIncoming(otherwise.word, no_end);
  return {value, then.interned && otherwise.interned};
}

Value Body::logical(const Binary& node) {
  bool is_and = node.op == ast::BinOp::LogAnd;
  llvm::Value* left = condition(*node.left);
  llvm::BasicBlock* from = b_.GetInsertBlock();
  llvm::BasicBlock *more = block("right"), *end = block("logical");
  b_.CreateCondBr(left, is_and ? more : end, is_and ? end : more);
  b_.SetInsertPoint(more);
  llvm::Value* right = condition(*node.right);
  llvm::BasicBlock* more_end = b_.GetInsertBlock();
  b_.CreateBr(end);
  b_.SetInsertPoint(end);
  llvm::PHINode* value = b_.CreatePHI(b_.getInt1Ty(), 2);
  value->addIncoming(b_.getInt1(!is_and), from);
  value->addIncoming(right, more_end);
  return {b_.CreateZExt(value, unit_.word)};
}

Value Body::visit(const Expr&, const InArray& node) {
  llvm::Value* where = keys(node.keys);
  if (is_slice(node.keys)) {
    return {b_.CreateCall(unit_.entry("dj_slice_has"),
                          {map(node.array), where, given_keys(node.keys)})};
  }
  return {b_.CreateCall(unit_.entry("dj_map_has"), {map(node.array), where})};
}

const TargetPlan& Body::target_plan(TargetId id) const {
  return handler_ ? handler_->targets[id] : unit_.plan.function_targets[id];
}

Value Body::visit(const Expr& expr, const TargetRef& node) {
  std::vector<llvm::Value*> args;
  for (const ExprPtr& arg : node.args) args.push_back(number(*arg));
  const TargetPlan& target = target_plan(node.target);
  if (const auto* where = std::get_if<LocExpr>(&target)) return {location(*where, args, expr.span)};
  if (const auto* text = std::get_if<TargetText>(&target)) {
    return target_text(*text, args, expr.span);
  }
  // Behind a false @defined: never executed.
  return expr.type == Type::Str ? literal("") : Value{unit_.number(0)};
}

Value Body::visit(const Expr&, const Defined& node) {
  return {unit_.number(!std::holds_alternative<Undefined>(target_plan(node.target)))};
}

}  // namespace dj::ir
