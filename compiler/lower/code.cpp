// SPDX-License-Identifier: Apache-2.0
// Code: slots, blocks and error paths that all families of lowering use.
#include "compiler/lower/code.h"

#include <llvm/IR/MDBuilder.h>

#include <algorithm>

namespace dj::ir {

Code::Code(Unit& shared, llvm::Function* function, llvm::Value* context, llvm::Value* site)
    : unit(shared), b(shared.context), function_(function), context_(context), site_(site) {
  entry_ = block("entry");
  llvm::BasicBlock* start = block("body");
  exit_ = llvm::BasicBlock::Create(unit.context, "exit");  // put behind everything by the owner
  b.SetInsertPoint(entry_);
  b.CreateBr(start);
  b.SetInsertPoint(start);
}

llvm::Value* Code::context() const {
  CHECK(context_);
  return context_;
}

llvm::Value* Code::context_field(size_t offset) {
  return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), context(), offset);
}

llvm::CallInst* Code::call(std::string_view entry, llvm::ArrayRef<llvm::Value*> args) {
  return b.CreateCall(unit.entry(entry), args);
}

llvm::LoadInst* Code::load(llvm::Value* place) { return b.CreateLoad(unit.word, place); }

llvm::LoadInst* Code::load32(llvm::Value* place) { return b.CreateLoad(unit.half, place); }

llvm::AllocaInst* Code::slot(llvm::Type* type, const char* name, uint32_t count) {
  llvm::IRBuilder<> at(entry_, entry_->begin());
  llvm::Type* whole = count == 1 ? type : llvm::ArrayType::get(type, count);
  return at.CreateAlloca(whole, nullptr, name);
}

llvm::AllocaInst* Code::row(const std::vector<llvm::Value*>& words) {
  llvm::AllocaInst* array = slot(unit.word, "words", std::max<uint32_t>(1, words.size()));
  for (size_t i = 0; i < words.size(); ++i) {
    b.CreateStore(words[i], b.CreateConstInBoundsGEP1_64(unit.word, array, i));
  }
  return array;
}

llvm::BasicBlock* Code::block(const char* name) {
  return llvm::BasicBlock::Create(unit.context, name, function_);
}

void Code::jump(llvm::BasicBlock* to) {
  b.CreateBr(to);
  b.SetInsertPoint(block("dead"));
}

void Code::back_edge(llvm::BasicBlock* to) {
  llvm::Value* more = call("dj_action", {context()});
  leave_if(b.CreateICmpEQ(more, number32(0)));
  b.CreateBr(to);
}

void Code::leave_if(llvm::Value* condition) {
  llvm::BasicBlock* stay = block("go");
  b.CreateCondBr(condition, error_exit(), stay,
                 llvm::MDBuilder(unit.context).createUnlikelyBranchWeights());
  b.SetInsertPoint(stay);
}

void Code::leave_if_raised() {
  llvm::Value* raised = load32(context_field(offsetof(abi::Context, raised)));
  leave_if(b.CreateICmpNE(raised, number32(0)));
}

void Code::fail_if(llvm::Value* condition, Span span, uint32_t kind, llvm::Value* a) {
  if (auto* constant = llvm::dyn_cast<llvm::ConstantInt>(condition); constant && constant->isZero())
    return;
  llvm::BasicBlock* bad = block("raise");
  llvm::BasicBlock* good = block("fine");
  b.CreateCondBr(condition, bad, good, llvm::MDBuilder(unit.context).createUnlikelyBranchWeights());
  b.SetInsertPoint(bad);
  llvm::Value* context = context_ ? context_ : llvm::ConstantPointerNull::get(b.getPtrTy());
  call("dj_raise", {context, site_, number32(unit.span_index(span)), number32(kind), a});
  b.CreateBr(error_exit());
  b.SetInsertPoint(good);
}

void Code::note_span(Span span) {
  b.CreateStore(number32(unit.span_index(span)), context_field(offsetof(abi::Context, span)));
}

void Code::leave_tries(size_t kept) {
  if (catches_.size() == kept) return;
  auto left = static_cast<uint32_t>(catches_.size() - kept);
  llvm::Value* tries = context_field(offsetof(abi::Context, tries));
  b.CreateStore(b.CreateSub(load32(tries), number32(left)), tries);
}

void Code::fail(std::string message) {
  if (failure_.empty()) failure_ = std::move(message);
}

}  // namespace dj::ir
