// Functions that detours call.
#include "compiler/lower/handler_frame.h"

#include <llvm/IR/Intrinsics.h>

#include "compiler/lower/emit.h"

namespace dj::ir {

llvm::Function* make_handler(Unit& unit, const std::string& name, size_t pushed, bool host) {
  size_t count = host ? 0 : kRegisterArguments + pushed;
  std::vector<llvm::Type*> parameters(count, unit.word);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(unit.context), parameters, false);
  auto* function =
      llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, unit.module);
  if (host) {
    function->addFnAttr(kOwnHandler);
  } else {
    function->setCallingConv(llvm::CallingConv::PreserveMost);
  }
  function->setDSOLocal(true);
  function->setVisibility(llvm::GlobalValue::HiddenVisibility);
  return function;
}

llvm::Value* stack_pointer(Unit& unit, llvm::IRBuilder<>& b, arch::Form form, size_t pushed) {
  uint64_t above = 8 + 8 * pushed + arch::kFrameBytes[static_cast<size_t>(form)];
  llvm::Value* slot =
      b.CreateIntrinsic(llvm::Intrinsic::addressofreturnaddress, {unit.pointer}, {});
  return b.CreateAdd(b.CreatePtrToInt(slot, unit.word), unit.number(static_cast<int64_t>(above)));
}

}  // namespace dj::ir
