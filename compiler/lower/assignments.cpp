// SPDX-License-Identifier: Apache-2.0
// Assignments to locals, globals and elements. Each operation on a global is atomic by itself: a
// scalar's, or one agent entry.
#include "compiler/lower/doubles.h"
#include "compiler/lower/elements.h"
#include "compiler/lower/nodes.h"
#include "compiler/lower/operators.h"
#include "compiler/lower/scalars.h"
#include "compiler/lower/strings.h"

namespace dj::ir {

using ast::BinOp;

namespace {

Value assign_local(Body& body, const Assign& node, LocalId local, Span span) {
  Code& code = body.code();
  Value value;
  if (node.op) {
    Value before{code.load(body.local(local))};
    Value operand = body.expression(*node.value);
    if (*node.op == BinOp::Concat) {
      value = concat(code, before, operand);
    } else if (node.place->type == Type::Double) {
      value = {compute_doubles(code, *node.op, before.word, operand.word)};
    } else {
      value = {arithmetic(code, *node.op, before.word, operand.word, span)};
    }
  } else {
    value = body.expression(*node.value);
  }
  code.b.CreateStore(value.word, body.local(local));
  return value;
}

Value assign_global(Body& body, const Assign& node, GlobalId id, Span span) {
  Code& code = body.code();
  const Global& global = code.unit.program.globals[id];
  const GlobalSlot& slot = code.unit.layout.globals[id];
  Value value = body.expression(*node.value);
  if (global.storage == Storage::Counter) {
    CHECK(node.op == BinOp::Add || node.op == BinOp::Sub);
    llvm::Value* delta = *node.op == BinOp::Sub ? code.b.CreateNeg(value.word) : value.word;
    code.call("dj_count_add", {code.number32(slot.counter), delta});
    return value;  // never looked at: that makes it a counter
  }
  if (!node.op) {
    if (global.value == Type::Str) value = intern(code, value);
    store_scalar(code, slot, global.value == Type::Str ? to_ref(code, value) : value.word);
    return value;
  }
  if (*node.op == BinOp::Concat) return append_scalar(code, slot, value);
  if (global.value == Type::Double) return {update_double(code, slot, *node.op, value.word, false)};
  return {update_scalar(code, slot, *node.op, value.word, span, false)};
}

Value assign_element(Body& body, const Assign& node, const ElementRef& element, Span span) {
  Code& code = body.code();
  llvm::Value* where = keys(body, element.keys);
  Value value = body.expression(*node.value);
  const Type type = code.unit.program.globals[element.array].value;
  if (node.op && *node.op == BinOp::Concat) {
    llvm::Value* old = code.call("dj_map_get", {map(code, element.array), where});
    value = concat(code, from_ref(code, old), value);
  } else if (node.op) {
    if (type != Type::Double && (*node.op == BinOp::Div || *node.op == BinOp::Mod)) {
      code.fail_if(code.b.CreateICmpEQ(value.word, code.number(0)), span, abi::kErrDivideByZero,
                   code.number(0));
    }
    return {update_element(code, element.array, where, *node.op, value.word, false)};
  }
  if (type == Type::Str) value = intern(code, value);
  llvm::Value* word = type == Type::Str ? to_ref(code, value) : value.word;
  code.call("dj_map_set", {map(code, element.array), where, word});
  return value;
}

Value crement_local(Body& body, const Crement& node, LocalId local) {
  Code& code = body.code();
  llvm::Value* old = code.load(body.local(local));
  llvm::Value* fresh =
      node.place->type == Type::Double
          ? compute_doubles(code, BinOp::Add, old, double_constant(code, node.delta))
          : code.b.CreateAdd(old, code.number(node.delta));
  code.b.CreateStore(fresh, body.local(local));
  return {node.prefix ? fresh : old};
}

}  // namespace

Value lower_node(Body& body, const Expr& expr, const Assign& node) {
  if (const auto* local = std::get_if<LocalRef>(&node.place->node)) {
    return assign_local(body, node, local->local, expr.span);
  }
  if (const auto* global = std::get_if<GlobalRef>(&node.place->node)) {
    return assign_global(body, node, global->global, expr.span);
  }
  return assign_element(body, node, std::get<ElementRef>(node.place->node), expr.span);
}

Value lower_node(Body& body, const Expr& expr, const Crement& node) {
  Code& code = body.code();
  if (const auto* local = std::get_if<LocalRef>(&node.place->node))
    return crement_local(body, node, local->local);
  if (const auto* element = std::get_if<ElementRef>(&node.place->node)) {
    llvm::Value* delta =
        expr.type == Type::Double ? double_constant(code, node.delta) : code.number(node.delta);
    return {update_element(code, element->array, keys(body, element->keys), BinOp::Add, delta,
                           !node.prefix)};
  }
  GlobalId id = std::get<GlobalRef>(node.place->node).global;
  const GlobalSlot& slot = code.unit.layout.globals[id];
  if (code.unit.program.globals[id].storage == Storage::Counter) {
    code.call("dj_count_add", {code.number32(slot.counter), code.number(node.delta)});
    return {code.number(0)};  // never looked at
  }
  if (expr.type == Type::Double)
    return {update_double(code, slot, BinOp::Add, double_constant(code, node.delta), !node.prefix)};
  return {update_scalar(code, slot, BinOp::Add, code.number(node.delta), expr.span, !node.prefix)};
}

}  // namespace dj::ir
