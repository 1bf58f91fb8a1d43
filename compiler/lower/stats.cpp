// What is read of aggregates: the extractors and single buckets.
#include "compiler/lower/body.h"

namespace dj::ir {

Body::StatRows Body::stat_rows(const Expr& place) {
  if (const auto* element = std::get_if<ElementRef>(&place.node)) {
    llvm::Value* where = keys(element->keys);
    llvm::Value* stat = b_.CreateCall(unit_.entry("dj_map_stat_at"), {map(element->array), where});
    const GlobalSlot& slot = unit_.layout.globals[element->array];
    return {stat, unit_.number32(0), unit_.address(slot.shape_address)};
  }
  const GlobalSlot& slot = unit_.layout.globals[std::get<GlobalRef>(place.node).global];
  return {unit_.address(slot.address), unit_.number32(slot.stride),
          unit_.address(slot.shape_address)};
}

llvm::Value* Body::stat_value(const StatRead& node, llvm::Value* empty) {
  llvm::Value* op = unit_.number32(static_cast<uint32_t>(node.op));
  const auto* element = std::get_if<ElementRef>(&node.place->node);
  if (element != nullptr && is_slice(element->keys)) {
    llvm::Value* where = keys(element->keys);
    return b_.CreateCall(unit_.entry("dj_slice_stat_read"),
                         {map(element->array), where, given_keys(element->keys), op, empty});
  }
  if (node.op > StatOp::Avg) {
    StatRows from = stat_rows(*node.place);
    return b_.CreateCall(unit_.entry("dj_stat_derived"),
                         {from.rows, from.stride, from.shape, op, empty});
  }
  if (element == nullptr) {
    StatRows from = stat_rows(*node.place);
    return b_.CreateCall(unit_.entry("dj_stat_read"), {from.rows, from.stride, op, empty});
  }
  llvm::Value* where = keys(element->keys);
  return b_.CreateCall(unit_.entry("dj_map_stat_read"), {map(element->array), where, op, empty});
}

Value Body::visit(const Expr& expr, const StatRead& node) {
  llvm::AllocaInst* empty = slot(unit_.half, "empty");
  b_.CreateStore(unit_.number32(0), empty);
  llvm::Value* value = stat_value(node, empty);
  if (node.op == StatOp::Count || node.op == StatOp::Sum) return {value};  // 0 when empty
  llvm::Value* is_empty = b_.CreateICmpNE(b_.CreateLoad(unit_.half, empty), unit_.number32(0));
  fail_if(is_empty, expr.span, abi::kErrEmptyStat, unit_.number(0));
  return {value};
}

Value Body::visit(const Expr& expr, const HistBucket& node) {
  llvm::AllocaInst* bad = slot(unit_.half, "bad");
  llvm::Value *linear = unit_.number32(node.linear), *index, *value;
  const auto* element = std::get_if<ElementRef>(&node.place->node);
  if (element != nullptr && is_slice(element->keys)) {
    llvm::Value* where = keys(element->keys);
    index = number(*node.index);
    value =
        b_.CreateCall(unit_.entry("dj_slice_bucket"),
                      {map(element->array), where, given_keys(element->keys), linear, index, bad});
  } else {
    StatRows from = stat_rows(*node.place);
    index = number(*node.index);
    value = b_.CreateCall(unit_.entry("dj_stat_bucket"),
                          {from.rows, from.stride, from.shape, linear, index, bad});
  }
  llvm::Value* is_bad = b_.CreateICmpNE(b_.CreateLoad(unit_.half, bad), unit_.number32(0));
  fail_if(is_bad, expr.span, abi::kErrBucket, index);
  return {value};
}

}  // namespace dj::ir
