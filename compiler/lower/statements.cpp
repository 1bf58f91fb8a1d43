// SPDX-License-Identifier: Apache-2.0
// Statements that are neither loops nor of aggregates.
#include "compiler/lower/elements.h"
#include "compiler/lower/nodes.h"
#include "compiler/lower/scalars.h"

namespace dj::ir {

void lower_node(Body& body, const Stmt&, const Block& node) {
  for (const StmtPtr& stmt : node.body) body.statement(*stmt);
}

void lower_node(Body& body, const Stmt&, const ExprStmt& node) { body.expression(*node.expr); }

void lower_node(Body& body, const Stmt&, const If& node) {
  Code& code = body.code();
  llvm::Value* chosen = body.condition(*node.condition);
  llvm::BasicBlock *then = code.block("then"), *otherwise = code.block("else"),
                   *end = code.block("fi");
  code.b.CreateCondBr(chosen, then, otherwise);
  code.b.SetInsertPoint(then);
  body.statement(*node.then);
  code.b.CreateBr(end);
  code.b.SetInsertPoint(otherwise);
  if (node.otherwise) body.statement(*node.otherwise);
  code.b.CreateBr(end);
  code.b.SetInsertPoint(end);
}

void lower_node(Body& body, const Stmt&, const Next&) {
  Code& code = body.code();
  code.leave_tries(0);
  code.jump(code.exit());
}

void lower_node(Body& body, const Stmt&, const Return& node) {
  Code& code = body.code();
  if (const Body::Open* function = body.function()) {  // its value is in a local already
    code.leave_tries(function->tries);
    return code.jump(function->done);
  }
  if (node.value) {
    llvm::Value* word = body.number(*node.value);
    if (body.result()) code.b.CreateStore(word, body.result());
  }
  code.leave_tries(0);
  code.jump(code.exit());
}

void lower_node(Body& body, const Stmt&, const DeleteElement& node) {
  Code& code = body.code();
  const auto& element = std::get<ElementRef>(node.element->node);
  if (is_slice(element.keys)) {
    llvm::Value* where = keys(body, element.keys);
    code.call("dj_slice_delete", {map(code, element.array), where, given_keys(code, element.keys)});
    return;
  }
  code.call("dj_map_delete", {map(code, element.array), keys(body, element.keys)});
}

void lower_node(Body& body, const Stmt&, const DeleteGlobal& node) {
  Code& code = body.code();
  const Global& global = code.unit.program.globals[node.global];
  const GlobalSlot& slot = code.unit.layout.globals[node.global];
  switch (global.storage) {
    case Storage::Counter:
      code.call("dj_count_clear", {code.number32(slot.counter)});
      break;
    case Storage::Scalar:
      store_scalar(code, slot, code.number(0));
      break;  // for a string 0 reads as ""
    case Storage::Stats:
      code.call("dj_stat_clear", {code.unit.address(slot.address), code.number32(slot.stride),
                                  code.unit.address(slot.shape_address)});
      break;
    case Storage::Array:
      code.call("dj_map_clear", {map(code, node.global)});
      break;
  }
}

}  // namespace dj::ir
