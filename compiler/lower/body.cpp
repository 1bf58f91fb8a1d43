// Body: slots, exits and error paths that all families of lowering use.
#include "compiler/lower/body.h"

#include <llvm/IR/MDBuilder.h>

namespace dj::ir {

Body::Body(Unit& unit, llvm::Function* function, llvm::Value* context, llvm::Value* site,
           const Frame& frame)
    : unit_(unit),
      function_(function),
      b_(unit.context),
      context_(context),
      site_(site),
      frame_(frame) {
  entry_ = block("entry");
  llvm::BasicBlock* start = block("body");
  exit_ = llvm::BasicBlock::Create(unit_.context, "exit");  // put behind everything by the caller
  b_.SetInsertPoint(entry_);
  b_.CreateBr(start);
  b_.SetInsertPoint(start);
  for (const Local& local : frame.locals) {
    llvm::AllocaInst* place = slot(unit_.word, local.name.c_str());
    locals_.push_back(place);
    reset(static_cast<LocalId>(locals_.size() - 1));
  }
}

void Body::reset(LocalId id) {
  llvm::Value* nothing = frame_.locals[id].type == Type::Str ? literal("").word : unit_.number(0);
  b_.CreateStore(nothing, locals_[id]);
}

void Body::set_machine(const Handler* handler, Machine machine) {
  handler_ = handler;
  machine_ = machine;
}

llvm::AllocaInst* Body::slot(llvm::Type* type, const char* name, uint32_t count) {
  llvm::IRBuilder<> at(entry_, entry_->begin());
  llvm::Type* whole = count == 1 ? type : llvm::ArrayType::get(type, count);
  return at.CreateAlloca(whole, nullptr, name);
}

void Body::jump(llvm::BasicBlock* to) {
  b_.CreateBr(to);
  b_.SetInsertPoint(block("dead"));
}

void Body::leave_if(llvm::Value* condition) {
  llvm::BasicBlock* stay = block("go");
  b_.CreateCondBr(condition, error_exit(), stay,
                  llvm::MDBuilder(unit_.context).createUnlikelyBranchWeights());
  b_.SetInsertPoint(stay);
}

llvm::Value* Body::context_field(size_t offset) {
  CHECK(context_);
  return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), context_, offset);
}

void Body::leave_if_raised() {
  llvm::Value* raised = b_.CreateLoad(unit_.half, context_field(offsetof(abi::Context, raised)));
  leave_if(b_.CreateICmpNE(raised, unit_.number32(0)));
}

void Body::fail_if(llvm::Value* condition, Span span, uint32_t kind, llvm::Value* a) {
  if (auto* constant = llvm::dyn_cast<llvm::ConstantInt>(condition); constant && constant->isZero())
    return;
  llvm::BasicBlock* bad = block("raise");
  llvm::BasicBlock* good = block("fine");
  b_.CreateCondBr(condition, bad, good,
                  llvm::MDBuilder(unit_.context).createUnlikelyBranchWeights());
  b_.SetInsertPoint(bad);
  llvm::Value* context = context_ ? context_ : llvm::ConstantPointerNull::get(b_.getPtrTy());
  b_.CreateCall(unit_.entry("dj_raise"),
                {context, site_, unit_.number32(unit_.span_index(span)), unit_.number32(kind), a});
  b_.CreateBr(error_exit());
  b_.SetInsertPoint(good);
}

void Body::fail(std::string message) {
  if (failure_.empty()) failure_ = std::move(message);
}

}  // namespace dj::ir
