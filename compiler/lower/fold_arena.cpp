// SPDX-License-Identifier: Apache-2.0
// FoldArena: what the layout decides is known before any code is made.
#include "compiler/lower/fold_arena.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>

#include <cstring>

#include "runtime/shared/map.h"
#include "runtime/shared/strings.h"

namespace dj::ir {

FixedBytes fixed_bytes(const Program& program, const Layout& layout) {
  FixedBytes fixed;
  const auto add = [&fixed](uint64_t address, const auto& value, size_t bytes) {
    fixed[address].assign(reinterpret_cast<const char*>(&value), bytes);
  };
  // Behind trap_table begins what only the session knows.
  add(layout.base, layout.header, offsetof(abi::Header, trap_table));
  abi::Strings strings = {};
  const auto string_bytes = static_cast<uint64_t>(layout.limits.string_bytes);
  abi::strings_init(&strings, layout.strings.data - layout.base, string_bytes,
                    layout.strings.constants - layout.base, string_bytes);
  add(layout.header.strings.address(layout.arena()), strings,
      offsetof(abi::Strings, constants_used));
  for (size_t i = 0; i < program.globals.size(); ++i) {
    const Global& global = program.globals[i];
    const GlobalSlot& slot = layout.globals[i];
    if (global.storage == Storage::Stats) {
      add(slot.shape_address, slot.shape, sizeof slot.shape);
    }
    if (global.storage != Storage::Array) continue;
    abi::Map map = {};
    abi::map_init(&map, map_form(global, slot, layout), slot.data - layout.base);
    add(slot.address, map, sizeof map);
  }
  return fixed;
}

llvm::Constant* FoldArena::value_of(const llvm::LoadInst& load) const {
  auto* type = llvm::dyn_cast<llvm::IntegerType>(load.getType());
  if (!type || load.isVolatile() || type->getBitWidth() % 8 != 0 || type->getBitWidth() > 64)
    return nullptr;
  llvm::APInt offset(64, 0);
  const llvm::Value* base = load.getPointerOperand()->stripAndAccumulateConstantOffsets(
      load.getModule()->getDataLayout(), offset, /*AllowNonInbounds=*/true);
  const auto* cast = llvm::dyn_cast<llvm::ConstantExpr>(base);
  if (!cast || cast->getOpcode() != llvm::Instruction::IntToPtr) return nullptr;
  const auto* number = llvm::dyn_cast<llvm::ConstantInt>(cast->getOperand(0));
  if (!number) return nullptr;
  uint64_t address = number->getZExtValue() + offset.getZExtValue(), size = type->getBitWidth() / 8;
  auto range = fixed_.upper_bound(address);
  if (range == fixed_.begin()) return nullptr;
  --range;
  uint64_t at = address - range->first;
  if (at >= range->second.size() || range->second.size() - at < size) return nullptr;
  uint64_t value = 0;
  std::memcpy(&value, range->second.data() + at, size);
  return llvm::ConstantInt::get(type, value);
}

llvm::PreservedAnalyses FoldArena::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
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
