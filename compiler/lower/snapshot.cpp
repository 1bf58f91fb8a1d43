// snapshot(): reading and clearing in one step.
#include "compiler/lower/body.h"

namespace dj::ir {

// The word of a Counter or Scalar, which is 0 from here on.
llvm::Value* Body::take_global(GlobalId id) {
  const GlobalSlot& slot = unit_.layout.globals[id];
  if (unit_.program.globals[id].storage == Storage::Counter)
    return b_.CreateCall(unit_.entry("dj_count_take"), {unit_.number32(slot.counter)});
  return b_.CreateAtomicRMW(llvm::AtomicRMWInst::Xchg, unit_.address(slot.address), unit_.number(0),
                            llvm::Align(8), llvm::AtomicOrdering::SequentiallyConsistent);
}

Value Body::visit(const Expr& expr, const Take& node) {
  llvm::Value* word = nullptr;
  if (const auto* element = std::get_if<ElementRef>(&node.place->node)) {
    llvm::Value* where = keys(element->keys);
    word = b_.CreateCall(unit_.entry("dj_map_take"), {map(element->array), where});
  } else {
    word = take_global(std::get<GlobalRef>(node.place->node).global);
  }
  return expr.type == Type::Str ? or_empty(word) : Value{word};
}

void Body::visit(const Stmt&, const Snapshot& node) {
  const GlobalSlot &from = unit_.layout.globals[node.from], &to = unit_.layout.globals[node.to];
  switch (unit_.program.globals[node.from].storage) {
    case Storage::Array:
      b_.CreateCall(unit_.entry("dj_map_move"), {map(node.from), map(node.to)});
      break;
    case Storage::Stats:
      b_.CreateCall(unit_.entry("dj_stat_move"),
                    {unit_.address(from.address), unit_.address(to.address),
                     unit_.number32(from.stride), unit_.address(from.shape_address)});
      break;
    default:
      store_scalar(to, take_global(node.from));
      break;
  }
  statement(*node.body);
}

}  // namespace dj::ir
