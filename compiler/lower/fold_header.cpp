// FoldHeader: the fields in front of Header::trap_table are laid out before any code is made.
#include "compiler/lower/fold_header.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <cstring>

namespace dj::ir {

llvm::Constant* FoldHeader::value_of(const llvm::LoadInst& load) const {
  auto* type = llvm::dyn_cast<llvm::IntegerType>(load.getType());
  if (!type || load.isVolatile() || type->getBitWidth() % 8 != 0) return nullptr;
  llvm::APInt offset(64, 0);
  const llvm::Value* base = load.getPointerOperand()->stripAndAccumulateConstantOffsets(
      load.getModule()->getDataLayout(), offset, /*AllowNonInbounds=*/true);
  const auto* cast = llvm::dyn_cast<llvm::ConstantExpr>(base);
  if (!cast || cast->getOpcode() != llvm::Instruction::IntToPtr) return nullptr;
  const auto* address = llvm::dyn_cast<llvm::ConstantInt>(cast->getOperand(0));
  if (!address) return nullptr;
  uint64_t at = address->getZExtValue() + offset.getZExtValue() - header_.arena_base;
  uint64_t bytes = type->getBitWidth() / 8, end = offsetof(abi::Header, trap_table);
  if (bytes > 8 || at >= end || end - at < bytes) return nullptr;
  uint64_t value = 0;
  std::memcpy(&value, reinterpret_cast<const char*>(&header_) + at, bytes);
  return llvm::ConstantInt::get(type, value);
}

llvm::PreservedAnalyses FoldHeader::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  bool changed = false;
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    llvm::Constant* value = load ? value_of(*load) : nullptr;
    if (!value) continue;
    load->replaceAllUsesWith(value);
    load->eraseFromParent();
    changed = true;
  }
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

}  // namespace dj::ir
