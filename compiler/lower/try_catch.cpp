// SPDX-License-Identifier: Apache-2.0
// try and catch. The agent counts the open try blocks of a run in Context::tries: an error raised
// while there is one is remembered instead of reported, whatever function it happens in.
#include "compiler/lower/nodes.h"

namespace dj::ir {

void lower_node(Body& body, const Stmt&, const Try& node) {
  Code& code = body.code();
  llvm::BasicBlock *caught = code.block("catch"), *end = code.block("tried");
  llvm::Value* tries = code.context_field(offsetof(abi::Context, tries));
  llvm::Value* tries_before = code.load32(tries);
  llvm::Value* iterators = code.context_field(offsetof(abi::Context, iterators));
  llvm::Value* iterators_before = code.load32(iterators);
  code.b.CreateStore(code.b.CreateAdd(tries_before, code.number32(1)), tries);
  code.open_try(caught);
  body.statement(*node.body);
  code.close_try();
  code.b.CreateStore(tries_before, tries);
  code.b.CreateBr(end);

  code.b.SetInsertPoint(caught);
  code.b.CreateStore(tries_before, tries);
  llvm::Value* raised = code.context_field(offsetof(abi::Context, raised));
  code.leave_if(code.b.CreateICmpEQ(code.load32(raised), code.number32(abi::kAborted)));
  code.b.CreateStore(iterators_before, iterators);  // the error may have left loops over arrays
  code.b.CreateStore(code.number32(0), raised);
  body.statement(*node.handler);
  code.b.CreateBr(end);
  code.b.SetInsertPoint(end);
}

Value lower_node(Body& body, const Expr&, const Caught&) {
  Code& code = body.code();
  llvm::Value* text = code.call("dj_caught", {code.context()});
  return {code.b.CreatePtrToInt(text, code.unit.word)};
}

}  // namespace dj::ir
