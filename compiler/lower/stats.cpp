// SPDX-License-Identifier: Apache-2.0
// Aggregates: adding a value, the extractors, single buckets.
#include "compiler/lower/elements.h"
#include "compiler/lower/nodes.h"

namespace dj::ir {

StatRows stat_rows(Body& body, const Expr& place) {
  Code& code = body.code();
  if (const auto* element = std::get_if<ElementRef>(&place.node)) {
    llvm::Value* where = keys(body, element->keys);
    llvm::Value* stat = code.call("dj_map_stat_at", {map(code, element->array), where});
    const GlobalSlot& slot = code.unit.layout.globals[element->array];
    return {stat, code.number32(0), code.unit.address(slot.shape_address)};
  }
  const GlobalSlot& slot = code.unit.layout.globals[std::get<GlobalRef>(place.node).global];
  return {code.unit.address(slot.address), code.number32(slot.stride),
          code.unit.address(slot.shape_address)};
}

namespace {

llvm::Value* stat_value(Body& body, const StatRead& node, llvm::Value* empty) {
  Code& code = body.code();
  llvm::Value* op = code.number32(static_cast<uint32_t>(node.op));
  const auto* element = std::get_if<ElementRef>(&node.place->node);
  if (element != nullptr && is_slice(element->keys)) {
    llvm::Value* where = keys(body, element->keys);
    return code.call("dj_slice_stat_read", {map(code, element->array), where,
                                            given_keys(code, element->keys), op, empty});
  }
  if (node.op > StatOp::Avg) {
    StatRows from = stat_rows(body, *node.place);
    return code.call("dj_stat_derived", {from.rows, from.stride, from.shape, op, empty});
  }
  if (element == nullptr) {
    StatRows from = stat_rows(body, *node.place);
    return code.call("dj_stat_read", {from.rows, from.stride, op, empty});
  }
  llvm::Value* where = keys(body, element->keys);
  return code.call("dj_map_stat_read", {map(code, element->array), where, op, empty});
}

}  // namespace

void lower_node(Body& body, const Stmt&, const StatAdd& node) {
  Code& code = body.code();
  if (const auto* element = std::get_if<ElementRef>(&node.place->node)) {
    llvm::Value* where = keys(body, element->keys);
    llvm::Value* sample = body.number(*node.value);
    code.call("dj_map_stat_add", {map(code, element->array), where, sample});
    return;
  }
  const GlobalSlot& slot = code.unit.layout.globals[std::get<GlobalRef>(node.place->node).global];
  llvm::Value* sample = body.number(*node.value);
  code.call("dj_stat_add", {code.unit.address(slot.address), code.number32(slot.stride),
                            code.unit.address(slot.shape_address), sample});
}

Value lower_node(Body& body, const Expr& expr, const StatRead& node) {
  Code& code = body.code();
  llvm::AllocaInst* empty = code.slot(code.unit.half, "empty");
  code.b.CreateStore(code.number32(0), empty);
  llvm::Value* value = stat_value(body, node, empty);
  if (node.op == StatOp::Count || node.op == StatOp::Sum) return {value};  // 0 when empty
  llvm::Value* is_empty = code.b.CreateICmpNE(code.load32(empty), code.number32(0));
  code.fail_if(is_empty, expr.span, abi::kErrEmptyStat, code.number(0));
  return {value};
}

Value lower_node(Body& body, const Expr& expr, const HistBucket& node) {
  Code& code = body.code();
  llvm::AllocaInst* bad = code.slot(code.unit.half, "bad");
  llvm::Value *linear = code.number32(node.linear), *index, *value;
  const auto* element = std::get_if<ElementRef>(&node.place->node);
  if (element != nullptr && is_slice(element->keys)) {
    llvm::Value* where = keys(body, element->keys);
    index = body.number(*node.index);
    value = code.call("dj_slice_bucket", {map(code, element->array), where,
                                          given_keys(code, element->keys), linear, index, bad});
  } else {
    StatRows from = stat_rows(body, *node.place);
    index = body.number(*node.index);
    value = code.call("dj_stat_bucket", {from.rows, from.stride, from.shape, linear, index, bad});
  }
  llvm::Value* is_bad = code.b.CreateICmpNE(code.load32(bad), code.number32(0));
  code.fail_if(is_bad, expr.span, abi::kErrBucket, index);
  return {value};
}

}  // namespace dj::ir
