// SPDX-License-Identifier: Apache-2.0
// Functions that detours call.
#include "compiler/lower/handler_frame.h"

#include <llvm/IR/Intrinsics.h>

#include <algorithm>

#include "compiler/lower/emit.h"
#include "compiler/lower/own_stack.h"
#include "runtime/shared/own_stack.h"

namespace dj::ir {

namespace {

llvm::Function* make_function(Unit& unit, const std::string& name, size_t words) {
  std::vector<llvm::Type*> parameters(words, unit.word);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(unit.context), parameters, false);
  auto* function =
      llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, unit.module);
  function->setDSOLocal(true);
  function->setVisibility(llvm::GlobalValue::HiddenVisibility);
  return function;
}

// Bytes that a handler's frame may take of the program's stack, behind what its detour has taken.
int64_t frame_limit(arch::Form form, size_t pushed) {
  const uint64_t above = arch::kFrameBytes[static_cast<size_t>(form)] + 8 * pushed + 8;
  return std::max<int64_t>(abi::kMostOfProgramStack - static_cast<int64_t>(above), 0);
}

}  // namespace

llvm::Function* make_handler(Unit& unit, const std::string& name, arch::Form form, size_t pushed) {
  llvm::Function* function = make_function(unit, name, kRegisterArguments + pushed);
  function->setCallingConv(llvm::CallingConv::PreserveMost);
  function->addFnAttr(kFrameLimit, std::to_string(frame_limit(form, pushed)));
  return function;
}

llvm::Function* make_host_handler(Unit& unit, const std::string& name) {
  llvm::Function* function = make_function(unit, name, 0);
  function->addFnAttr(kOwnHandler);
  return function;
}

llvm::Value* stack_pointer(Unit& unit, llvm::IRBuilder<>& b, arch::Form form, size_t pushed) {
  uint64_t above = 8 + 8 * pushed + arch::kFrameBytes[static_cast<size_t>(form)];
  llvm::Value* slot =
      b.CreateIntrinsic(llvm::Intrinsic::addressofreturnaddress, {unit.pointer}, {});
  return b.CreateAdd(b.CreatePtrToInt(slot, unit.word), unit.number(static_cast<int64_t>(above)));
}

}  // namespace dj::ir
