// SPDX-License-Identifier: Apache-2.0
// Backend: initialises LLVM's x86 back end at the first use.
#include "compiler/lower/backend.h"

#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>

#include "compiler/lower/llvm_versions.h"

namespace dj::ir {
namespace {

// As the agent's: no vector or x87 register is ever touched.
constexpr const char* kFeatures = "-sse,-sse2,-mmx,-x87,+soft-float,+cx16";

// Two aligned stores that stand side by side may be one that is not aligned (alignment_check.h).
void join_no_stores() {
  const auto& options = llvm::cl::getRegisteredOptions();
  const auto option = options.find("combiner-store-merging");
  CHECK(option != options.end());
  static_cast<llvm::cl::opt<bool>*>(option->second)->setValue(false);
}

std::unique_ptr<llvm::TargetMachine> make_machine(std::string& error) {
  join_no_stores();
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  LLVMInitializeX86AsmParser();  // for the agent's inline assembly
  const llvm::Target* target =
      llvm::TargetRegistry::lookupTarget(TripleWord(Backend::kTriple), error);
  if (!target) return nullptr;
  llvm::TargetOptions options;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      TripleWord(Backend::kTriple), "x86-64", kFeatures, options, llvm::Reloc::PIC_,
      llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default, /*JIT=*/false));
}

}  // namespace

Backend::Backend() = default;
Backend::~Backend() = default;

Result<llvm::TargetMachine*> Backend::made() {
  std::call_once(once_, [this] { machine_ = make_machine(error_); });
  if (!machine_) return Error{"LLVM makes no code for x86-64: " + error_};
  return machine_.get();
}

Result<const llvm::TargetMachine*> Backend::look() {
  DJ_TRY(llvm::TargetMachine * machine, made());
  return machine;
}

Result<Backend::Lent> Backend::lend() {
  DJ_TRY(llvm::TargetMachine * machine, made());
  return Lent(*machine, use_);
}

}  // namespace dj::ir
