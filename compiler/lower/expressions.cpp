// SPDX-License-Identifier: Apache-2.0
// Expressions without side effects: literals, variables, reads of arrays and of the program.
#include "compiler/lower/doubles.h"
#include "compiler/lower/elements.h"
#include "compiler/lower/nodes.h"
#include "compiler/lower/scalars.h"
#include "compiler/lower/strings.h"
#include "compiler/lower/target_text.h"

namespace dj::ir {

Value lower_node(Body& body, const Expr&, const IntLit& node) {
  return {body.code().number(node.value)};
}

Value lower_node(Body& body, const Expr&, const StrLit& node) {
  return literal(body.code(), node.value);
}

Value lower_node(Body& body, const Expr&, const LocalRef& node) {
  return {body.code().load(body.local(node.local))};
}

Value lower_node(Body& body, const Expr&, const DoubleLit& node) {
  return {double_constant(body.code(), node.value)};
}

Value lower_node(Body& body, const Expr&, const ToDouble& node) {
  Code& code = body.code();
  if (const auto* literal = std::get_if<IntLit>(&node.operand->node))
    return {double_constant(code, static_cast<double>(literal->value))};
  return {double_of_int(code, body.number(*node.operand))};
}

Value lower_node(Body& body, const Expr&, const GlobalRef& node) {
  Code& code = body.code();
  const Global& global = code.unit.program.globals[node.global];
  const GlobalSlot& slot = code.unit.layout.globals[node.global];
  if (global.storage == Storage::Counter) {
    return {code.call("dj_count_read", {code.number32(slot.counter)})};
  }
  CHECK(global.storage == Storage::Scalar);
  llvm::Value* word = load_scalar(code, slot);
  return global.value == Type::Str ? from_ref(code, word) : Value{word};
}

Value lower_node(Body& body, const Expr& expr, const ElementRef& node) {
  Code& code = body.code();
  llvm::Value* where = keys(body, node.keys);
  llvm::Value* word = code.call("dj_map_get", {map(code, node.array), where});
  return expr.type == Type::Str ? from_ref(code, word) : Value{word};
}

Value lower_node(Body& body, const Expr&, const InArray& node) {
  Code& code = body.code();
  llvm::Value* where = keys(body, node.keys);
  if (is_slice(node.keys)) {
    return {code.call("dj_slice_has", {map(code, node.array), where, given_keys(code, node.keys)})};
  }
  return {code.call("dj_map_has", {map(code, node.array), where})};
}

Value lower_node(Body& body, const Expr& expr, const TargetRef& node) {
  Code& code = body.code();
  std::vector<llvm::Value*> args;
  for (const ExprPtr& arg : node.args) args.push_back(body.number(*arg));
  const TargetPlan& target = body.target_plan(node.target);
  if (const auto* where = std::get_if<LocExpr>(&target))
    return {body.locations().value(*where, args, expr.span)};
  if (const auto* text = std::get_if<TargetText>(&target)) {
    return target_text(body.locations(), *text, args, expr.span);
  }
  // Behind a false @defined: never executed.
  return expr.type == Type::Str ? literal(code, "") : Value{code.number(0)};
}

Value lower_node(Body& body, const Expr&, const Defined& node) {
  const bool has_value = !std::holds_alternative<Undefined>(body.target_plan(node.target));
  return {body.code().number(has_value)};
}

}  // namespace dj::ir
