// SPDX-License-Identifier: Apache-2.0
// LLVM says of each access how far its address is aligned. Code generation keeps that: it splits
// words at multiples of the parts' sizes, and emit.cpp keeps it from joining stores.
#include "compiler/lower/alignment_check.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <set>
#include <vector>

#include "compiler/lower/emit.h"

namespace dj::ir {
namespace {

constexpr uint64_t kAlignmentCheck = 1 << 18;  // AC
constexpr uint64_t kWordBytes = 8;

bool is_aligned(const llvm::DataLayout& layout, const llvm::Type* type, llvm::Align align) {
  return align.value() >= layout.getTypeStoreSize(const_cast<llvm::Type*>(type));
}

// A copy of constant size becomes loads and stores of words, which may overlap; one of any other
// size a call of memcpy(), which copies bytes.
bool is_aligned(const llvm::MemIntrinsic& copy) {
  const auto* size = llvm::dyn_cast<llvm::ConstantInt>(copy.getLength());
  if (size == nullptr || size->getZExtValue() <= 1) return true;
  const auto* from = llvm::dyn_cast<llvm::MemTransferInst>(&copy);
  const auto is_word = [](llvm::MaybeAlign align) {
    return align.valueOrOne().value() >= kWordBytes;
  };
  return size->getZExtValue() % kWordBytes == 0 && is_word(copy.getDestAlign()) &&
         (from == nullptr || is_word(from->getSourceAlign()));
}

bool is_aligned(const llvm::Instruction& instruction, const llvm::DataLayout& layout) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
    return is_aligned(layout, load->getType(), load->getAlign());
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
    return is_aligned(layout, store->getValueOperand()->getType(), store->getAlign());
  if (const auto* copy = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction)) return is_aligned(*copy);
  return true;
}

bool is_aligned(const llvm::Function& function) {
  if (function.hasFnAttribute(kUnaligned)) return false;
  const llvm::DataLayout& layout = function.getParent()->getDataLayout();
  return std::all_of(llvm::inst_begin(function), llvm::inst_end(function),
                     [&](const llvm::Instruction& each) { return is_aligned(each, layout); });
}

// Those that it calls, and so on, which have a body; itself, too.
std::set<llvm::Function*> reached_from(llvm::Function& root) {
  std::set<llvm::Function*> found = {&root};
  for (std::vector<llvm::Function*> open = {&root}; !open.empty();) {
    llvm::Function* caller = open.back();
    open.pop_back();
    for (llvm::Instruction& instruction : llvm::instructions(*caller)) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      llvm::Function* callee = call != nullptr ? call->getCalledFunction() : nullptr;
      if (callee != nullptr && !callee->isDeclaration() && found.insert(callee).second)
        open.push_back(callee);
    }
  }
  return found;
}

// Of an intrinsic that is not overloaded. (From LLVM 22 on, `{}` could be a name, too.)
const llvm::ArrayRef<llvm::Type*> kNoTypes;

llvm::Value* read_flags(llvm::IRBuilder<>& b) {
  return b.CreateIntrinsic(llvm::Intrinsic::x86_flags_read_u64, kNoTypes, {});
}

void write_flags(llvm::IRBuilder<>& b, llvm::Value* flags) {
  b.CreateIntrinsic(llvm::Intrinsic::x86_flags_write_u64, kNoTypes, {flags});
}

llvm::Value* is_checked(llvm::IRBuilder<>& b, llvm::Value* flags) {
  return b.CreateICmpNE(b.CreateAnd(flags, kAlignmentCheck), b.getInt64(0));
}

// Runs `action(builder)` before `place` where AC was set in `flags`.
template <typename Action>
void where_checked(llvm::Instruction* place, llvm::Value* flags, const Action& action) {
  llvm::IRBuilder<> b(place);
  llvm::BasicBlock* before = place->getParent();
  llvm::BasicBlock* behind = before->splitBasicBlock(place, "on");
  llvm::BasicBlock* checked =
      llvm::BasicBlock::Create(b.getContext(), "checked", before->getParent(), behind);
  before->getTerminator()->eraseFromParent();
  b.SetInsertPoint(before);
  b.CreateCondBr(is_checked(b, flags), checked, behind,
                 llvm::MDBuilder(b.getContext()).createUnlikelyBranchWeights());
  b.SetInsertPoint(checked);
  action(b);
  b.CreateBr(behind);
}

// Moves all slots of the stack to the function's begin; returns the first instruction behind them.
llvm::Instruction* begin_behind_slots(llvm::Function& function) {
  llvm::BasicBlock& entry = function.getEntryBlock();
  std::vector<llvm::Instruction*> slots;
  for (llvm::Instruction& each : entry) {
    if (llvm::isa<llvm::AllocaInst>(each)) slots.push_back(&each);
  }
  for (llvm::Instruction* slot : slots) slot->moveBefore(&entry.front());
  auto first = entry.begin();
  while (llvm::isa<llvm::AllocaInst>(*first)) ++first;
  return &*first;
}

// From its begin to its ends.
void uncheck(llvm::Function& function) {
  // Unwinders are not told that flags are pushed: they go by the frame pointer.
  function.addFnAttr("frame-pointer", "all");
  std::vector<llvm::Instruction*> ends;
  for (llvm::BasicBlock& block : function) {
    if (auto* end = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator())) ends.push_back(end);
  }
  llvm::Instruction* first = begin_behind_slots(function);
  llvm::IRBuilder<> b(first);
  llvm::Value* flags = read_flags(b);
  where_checked(first, flags, [&](llvm::IRBuilder<>& at) {
    write_flags(at, at.CreateAnd(flags, ~kAlignmentCheck));
  });
  for (llvm::Instruction* end : ends)
    where_checked(end, flags, [&](llvm::IRBuilder<>& at) { write_flags(at, flags); });
}

}  // namespace

void mind_alignment(llvm::Module& module) {
  std::vector<llvm::Function*> unaligned;
  for (llvm::Function& function : module) {
    const bool root = !function.isDeclaration() && !function.hasLocalLinkage();
    if (!root || function.hasFnAttribute(kOwnHandler)) continue;
    const std::set<llvm::Function*> reached = reached_from(function);
    const bool aligned = std::all_of(reached.begin(), reached.end(),
                                     [](llvm::Function* each) { return is_aligned(*each); });
    if (!aligned) unaligned.push_back(&function);
  }
  for (llvm::Function* function : unaligned) uncheck(*function);
}

}  // namespace dj::ir
