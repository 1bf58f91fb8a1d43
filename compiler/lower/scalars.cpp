// SPDX-License-Identifier: Apache-2.0
// Scalars: locked instructions and compare-and-swap loops.
#include "compiler/lower/scalars.h"

#include <functional>

#include "compiler/lower/doubles.h"
#include "compiler/lower/operators.h"
#include "compiler/lower/strings.h"

namespace dj::ir {

using ast::BinOp;

namespace {

// The one-instruction form of op, or BAD_BINOP.
llvm::AtomicRMWInst::BinOp locked_form(BinOp op) {
  switch (op) {
    case BinOp::Add:
      return llvm::AtomicRMWInst::Add;
    case BinOp::Sub:
      return llvm::AtomicRMWInst::Sub;
    case BinOp::And:
      return llvm::AtomicRMWInst::And;
    case BinOp::Or:
      return llvm::AtomicRMWInst::Or;
    case BinOp::Xor:
      return llvm::AtomicRMWInst::Xor;
    default:
      return llvm::AtomicRMWInst::BAD_BINOP;
  }
}

// Reads, computes and writes, again where somebody was faster.
llvm::Value* update_in_loop(Code& code, const GlobalSlot& slot, bool want_old,
                            const std::function<llvm::Value*(llvm::Value*)>& compute) {
  llvm::Constant* address = code.unit.address(slot.address);
  llvm::Value* first = load_scalar(code, slot);
  llvm::BasicBlock *before = code.b.GetInsertBlock(), *again = code.block("again"),
                   *done = code.block("updated");
  code.b.CreateBr(again);
  code.b.SetInsertPoint(again);
  llvm::PHINode* old = code.b.CreatePHI(code.unit.word, 2);
  llvm::Value* fresh = compute(old);
  llvm::Value* swap = code.b.CreateAtomicCmpXchg(address, old, fresh, llvm::Align(8),
                                                 llvm::AtomicOrdering::SequentiallyConsistent,
                                                 llvm::AtomicOrdering::SequentiallyConsistent);
  old->addIncoming(first, before);
  old->addIncoming(code.b.CreateExtractValue(swap, 0), code.b.GetInsertBlock());
  code.b.CreateCondBr(code.b.CreateExtractValue(swap, 1), done, again);
  code.b.SetInsertPoint(done);
  return want_old ? static_cast<llvm::Value*>(old) : fresh;
}

}  // namespace

// Acquire and release cost nothing on x86 and keep a handler's stores in the script's order.
llvm::Value* load_scalar(Code& code, const GlobalSlot& slot) {
  llvm::LoadInst* load =
      code.b.CreateAlignedLoad(code.unit.word, code.unit.address(slot.address), llvm::Align(8));
  load->setAtomic(llvm::AtomicOrdering::Acquire);
  return load;
}

void store_scalar(Code& code, const GlobalSlot& slot, llvm::Value* word) {
  llvm::StoreInst* store =
      code.b.CreateAlignedStore(word, code.unit.address(slot.address), llvm::Align(8));
  store->setAtomic(llvm::AtomicOrdering::Release);
}

llvm::Value* update_scalar(Code& code, const GlobalSlot& slot, BinOp op, llvm::Value* operand,
                           Span span, bool want_old) {
  llvm::Constant* address = code.unit.address(slot.address);
  auto form = locked_form(op);
  if (form != llvm::AtomicRMWInst::BAD_BINOP) {
    llvm::Value* old = code.b.CreateAtomicRMW(form, address, operand, llvm::Align(8),
                                              llvm::AtomicOrdering::SequentiallyConsistent);
    return want_old ? old : arithmetic(code, op, old, operand, span);
  }
  return update_in_loop(code, slot, want_old,
                        [&](llvm::Value* old) { return arithmetic(code, op, old, operand, span); });
}

llvm::Value* update_double(Code& code, const GlobalSlot& slot, BinOp op, llvm::Value* operand,
                           bool want_old) {
  return update_in_loop(code, slot, want_old,
                        [&](llvm::Value* old) { return compute_doubles(code, op, old, operand); });
}

// Every attempt takes scratch memory, so each one counts as an action.
Value append_scalar(Code& code, const GlobalSlot& slot, Value tail) {
  llvm::BasicBlock *again = code.block("again"), *lost = code.block("lost"),
                   *done = code.block("appended");
  code.b.CreateBr(again);
  code.b.SetInsertPoint(again);
  llvm::Value* old = load_scalar(code, slot);
  Value fresh = intern(code, concat(code, from_ref(code, old), tail));
  llvm::Value* swap = code.b.CreateAtomicCmpXchg(
      code.unit.address(slot.address), old, to_ref(code, fresh), llvm::Align(8),
      llvm::AtomicOrdering::SequentiallyConsistent, llvm::AtomicOrdering::SequentiallyConsistent);
  code.b.CreateCondBr(code.b.CreateExtractValue(swap, 1), done, lost);
  code.b.SetInsertPoint(lost);
  code.back_edge(again);
  code.b.SetInsertPoint(done);
  return fresh;
}

llvm::Value* take_global(Code& code, GlobalId id) {
  const GlobalSlot& slot = code.unit.layout.globals[id];
  if (code.unit.program.globals[id].storage == Storage::Counter)
    return code.call("dj_count_take", {code.number32(slot.counter)});
  return code.b.CreateAtomicRMW(llvm::AtomicRMWInst::Xchg, code.unit.address(slot.address),
                                code.number(0), llvm::Align(8),
                                llvm::AtomicOrdering::SequentiallyConsistent);
}

}  // namespace dj::ir
