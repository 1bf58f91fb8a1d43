// try and catch. The agent counts the open try blocks of a run in Context::tries: an error raised
// while there is one is remembered instead of reported, whatever function it happens in.
#include "compiler/lower/body.h"

namespace dj::ir {

void Body::visit(const Stmt&, const Try& node) {
  CHECK(context_);
  llvm::BasicBlock *caught = block("catch"), *end = block("tried");
  llvm::Value* tries = context_field(offsetof(abi::Context, tries));
  llvm::Value* tries_before = b_.CreateLoad(unit_.half, tries);
  llvm::Value* iterators = context_field(offsetof(abi::Context, iterators));
  llvm::Value* iterators_before = b_.CreateLoad(unit_.half, iterators);
  b_.CreateStore(b_.CreateAdd(tries_before, unit_.number32(1)), tries);
  catches_.push_back(caught);
  statement(*node.body);
  catches_.pop_back();
  b_.CreateStore(tries_before, tries);
  b_.CreateBr(end);

  b_.SetInsertPoint(caught);
  b_.CreateStore(tries_before, tries);
  llvm::Value* raised = context_field(offsetof(abi::Context, raised));
  leave_if(b_.CreateICmpEQ(b_.CreateLoad(unit_.half, raised), unit_.number32(abi::kAborted)));
  b_.CreateStore(iterators_before, iterators);  // the error may have left loops over arrays
  b_.CreateStore(unit_.number32(0), raised);
  statement(*node.handler);
  b_.CreateBr(end);
  b_.SetInsertPoint(end);
}

void Body::leave_tries(size_t kept) {
  if (catches_.size() == kept) return;
  auto left = static_cast<uint32_t>(catches_.size() - kept);
  llvm::Value* tries = context_field(offsetof(abi::Context, tries));
  b_.CreateStore(b_.CreateSub(b_.CreateLoad(unit_.half, tries), unit_.number32(left)), tries);
}

Value Body::visit(const Expr&, const Caught&) {
  CHECK(context_);
  llvm::Value* text = b_.CreateCall(unit_.entry("dj_caught"), {context_});
  return {b_.CreatePtrToInt(text, unit_.word)};
}

}  // namespace dj::ir
