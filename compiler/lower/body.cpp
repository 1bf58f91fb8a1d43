// SPDX-License-Identifier: Apache-2.0
// Body: variables, what is open, and the way from a node to its function.
#include "compiler/lower/body.h"

#include "compiler/lower/nodes.h"
#include "compiler/lower/strings.h"
#include "compiler/lower/text_use.h"

namespace dj::ir {

Body::Body(Unit& unit, llvm::Function* function, llvm::Value* context, llvm::Value* site,
           const Frame& frame)
    : code_(unit, function, context, site), locations_(code_), frame_(frame) {
  for (const Local& local : frame.locals) {
    locals_.push_back(code_.slot(unit.word, local.name.c_str()));
    reset(static_cast<LocalId>(locals_.size() - 1));
  }
}

void Body::set_machine(const Handler& handler, const Machine& machine) {
  handler_ = &handler;
  locations_.set_place(handler.capture, machine);
}

const TargetPlan& Body::target_plan(TargetId id) const {
  return handler_ ? handler_->targets[id] : code_.unit.plan.function_targets[id];
}

void Body::statement(const Stmt& stmt) {
  const bool frees = code_.has_context() && ends_its_texts(stmt);
  llvm::Value* used = frees ? code_.context_field(offsetof(abi::Context, scratch_used)) : nullptr;
  llvm::Value* before = frees ? code_.load32(used) : nullptr;
  std::visit([&](const auto& node) { lower_node(*this, stmt, node); }, stmt.node);
  if (frees) code_.b.CreateStore(before, used);
}

Value Body::expression(const Expr& expr) {
  return std::visit([&](const auto& node) { return lower_node(*this, expr, node); }, expr.node);
}

llvm::Value* Body::condition(const Expr& expr) {
  const auto* node = std::get_if<Binary>(&expr.node);
  if (node != nullptr && node->op >= ast::BinOp::Lt && node->op <= ast::BinOp::Ne)
    return comparison(*this, *node);
  llvm::Value* word = number(expr);
  auto& b = code_.b;
  if (expr.type == Type::Str) {  // true unless empty
    return b.CreateICmpNE(code_.load32(code_.as_pointer(word)), code_.number32(0));
  }
  if (expr.type == Type::Double) word = b.CreateShl(word, 1);  // -0 is false, too
  return b.CreateICmpNE(word, code_.number(0));
}

void Body::reset(LocalId id) {
  llvm::Value* nothing =
      frame_.locals[id].type == Type::Str ? literal(code_, "").word : code_.number(0);
  code_.b.CreateStore(nothing, locals_[id]);
}

void Body::loop_body(const Stmt* body, llvm::BasicBlock* next, llvm::BasicBlock* done) {
  loops_.push_back({done, next, code_.tries()});
  if (body != nullptr) statement(*body);
  loops_.pop_back();
}

void Body::function_body(const Stmt& body, llvm::BasicBlock* done) {
  functions_.push_back({done, nullptr, code_.tries()});
  statement(body);
  functions_.pop_back();
}

}  // namespace dj::ir
