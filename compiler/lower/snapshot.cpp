// SPDX-License-Identifier: Apache-2.0
// snapshot(): reading and clearing in one step.
#include "compiler/lower/elements.h"
#include "compiler/lower/nodes.h"
#include "compiler/lower/scalars.h"
#include "compiler/lower/strings.h"

namespace dj::ir {

Value lower_node(Body& body, const Expr& expr, const Take& node) {
  Code& code = body.code();
  llvm::Value* word = nullptr;
  if (const auto* element = std::get_if<ElementRef>(&node.place->node)) {
    llvm::Value* where = keys(body, element->keys);
    word = code.call("dj_map_take", {map(code, element->array), where});
  } else {
    word = take_global(code, std::get<GlobalRef>(node.place->node).global);
  }
  return expr.type == Type::Str ? from_ref(code, word) : Value{word};
}

void lower_node(Body& body, const Stmt&, const Snapshot& node) {
  Code& code = body.code();
  const GlobalSlot &from = code.unit.layout.globals[node.from],
                   &to = code.unit.layout.globals[node.to];
  switch (code.unit.program.globals[node.from].storage) {
    case Storage::Array:
      code.call("dj_map_move", {map(code, node.from), map(code, node.to)});
      break;
    case Storage::Stats:
      code.call("dj_stat_move",
                {code.unit.address(from.address), code.unit.address(to.address),
                 code.number32(from.stride), code.unit.address(from.shape_address)});
      break;
    default:
      store_scalar(code, to, take_global(code, node.from));
      break;
  }
  body.statement(*node.body);
}

}  // namespace dj::ir
