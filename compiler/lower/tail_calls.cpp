// SPDX-License-Identifier: Apache-2.0
// Calls are taken before a return handler's body; the functions beside it are one call of the agent
// each.
#include "compiler/lower/tail_calls.h"

#include <fmt/format.h>

#include "compiler/lower/handler_frame.h"
#include "runtime/shared/capture.h"

namespace dj::ir {
namespace {

// Most calls of a function that may return for others are made by calls: nothing waits then.
void leave_unless_in_tail(Unit& unit, llvm::IRBuilder<>& b, HandlerId id) {
  uint64_t count = unit.layout.words.captures +
                   (unit.plan.first_handler + id) * sizeof(abi::CaptureCount) +
                   offsetof(abi::CaptureCount, in_tails);
  llvm::Function* function = b.GetInsertBlock()->getParent();
  llvm::BasicBlock* none = llvm::BasicBlock::Create(unit.context, "none_in_tail", function);
  llvm::BasicBlock* some = llvm::BasicBlock::Create(unit.context, "in_tail", function);
  llvm::Value* waiting = b.CreateLoad(unit.word, unit.address(count), true);
  b.CreateCondBr(b.CreateICmpEQ(waiting, unit.number(0)), none, some);
  b.SetInsertPoint(none);
  b.CreateRetVoid();
  b.SetInsertPoint(some);
}

}  // namespace

llvm::Value* CallTaker::call(const char* entry, llvm::Value* values) {
  auto words = static_cast<uint32_t>(unit_.plan.handlers[id_].capture.words());
  return body_.code().b.CreateCall(
      unit_.entry(entry),
      {unit_.number32(unit_.plan.first_handler + id_), rsp_, values, unit_.number32(words)});
}

void CallTaker::leave_without(llvm::Value* taken) {
  auto& b = body_.code().b;
  llvm::Function* function = begin_->getParent();
  llvm::BasicBlock* miss = llvm::BasicBlock::Create(unit_.context, "miss", function);
  llvm::BasicBlock* hit = llvm::BasicBlock::Create(unit_.context, "hit", function);
  b.CreateCondBr(b.CreateICmpEQ(taken, unit_.number32(0)), miss, hit);
  b.SetInsertPoint(miss);
  b.CreateRetVoid();
  b.SetInsertPoint(hit);
}

// A call that began before the probe was there is not kept: only entry values are missed then.
void CallTaker::take_own(llvm::Value* values) {
  if (!unit_.handlers.of_calls[id_]) return;
  const bool of_syscall = unit_.handlers.of_syscalls[id_];
  llvm::Value* taken = call(of_syscall ? "dj_syscall_take" : "dj_capture_take", values);
  if (!unit_.plan.handlers[id_].capture.values.empty()) leave_without(taken);
}

llvm::Value* CallTaker::take() {
  auto& b = body_.code().b;
  const ReturnCapture& capture = unit_.plan.handlers[id_].capture;
  auto words = static_cast<uint32_t>(capture.words());
  llvm::AllocaInst* values = body_.code().slot(unit_.word, "entry_values", std::max(words, 1u));
  if (!unit_.handlers.waits[id_]) {
    take_own(values);
    return values;
  }
  llvm::Function* function = begin_->getParent();
  llvm::Value* exit = b.CreateTrunc(function->getArg(kRegisterArguments), unit_.half);
  of_callee_ =
      b.CreateICmpNE(b.CreateAnd(exit, unit_.number32(abi::kExitOfCallee)), unit_.number32(0));
  llvm::BasicBlock* callee = llvm::BasicBlock::Create(unit_.context, "of_callee", function);
  llvm::BasicBlock* own = llvm::BasicBlock::Create(unit_.context, "own", function);
  llvm::BasicBlock* run = llvm::BasicBlock::Create(unit_.context, "taken", function);
  b.CreateCondBr(of_callee_, callee, own);

  b.SetInsertPoint(callee);
  leave_unless_in_tail(unit_, b, id_);
  llvm::Value* taken = call("dj_tail_take", values);
  leave_without(taken);
  llvm::Value* callers_site = b.CreateSub(taken, unit_.number32(1));
  llvm::BasicBlock* callee_end = b.GetInsertBlock();
  b.CreateBr(run);

  b.SetInsertPoint(own);
  take_own(values);
  llvm::BasicBlock* own_end = b.GetInsertBlock();
  b.CreateBr(run);

  b.SetInsertPoint(run);
  llvm::PHINode* site = b.CreatePHI(unit_.half, 2, "site");
  site->addIncoming(callers_site, callee_end);
  site->addIncoming(exit, own_end);
  body_.code().set_site(site);
  return values;
}

void CallTaker::take_more() {
  if (of_callee_ == nullptr) return;
  auto& b = body_.code().b;
  llvm::BasicBlock* done = llvm::BasicBlock::Create(unit_.context, "done", begin_->getParent());
  b.CreateCondBr(of_callee_, begin_, done);
  b.SetInsertPoint(done);
}

void define_tail_calls(Unit& unit, HandlerId id) {
  for (const bool leave : {true, false}) {
    const size_t pushed = leave ? 1 : 0;
    llvm::Function* function = make_handler(
        unit, fmt::format("dj_{}_{}", leave ? "leave" : "land", id), arch::Form::Boundary, pushed);
    llvm::IRBuilder<> b(llvm::BasicBlock::Create(unit.context, "entry", function));
    llvm::Value* slot = stack_pointer(unit, b, arch::Form::Boundary, pushed);
    if (leave) {
      llvm::Value* exit = b.CreateTrunc(function->getArg(kRegisterArguments), unit.half);
      b.CreateCall(unit.entry("dj_tail_leave"),
                   {unit.number32(unit.plan.first_handler + id), exit, slot});
    } else {
      leave_unless_in_tail(unit, b, id);
      b.CreateCall(unit.entry("dj_tail_land"), {unit.number32(unit.plan.first_handler + id), slot});
    }
    b.CreateRetVoid();
  }
}

}  // namespace dj::ir
