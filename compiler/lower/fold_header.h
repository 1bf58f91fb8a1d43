// FoldHeader: a pass that replaces loads of arena header fields which never change during a session by
// their values, so that the agent's code, inlined, computes with constants.
#pragma once
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PassManager.h>

#include "runtime/shared/abi.h"

namespace dj::ir {

class FoldHeader : public llvm::PassInfoMixin<FoldHeader> {
 public:
  explicit FoldHeader(const abi::Header& header) : header_(header) {}
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&);

 private:
  // The value that this load always finds, or null.
  llvm::Constant* value_of(const llvm::LoadInst& load) const;

  const abi::Header& header_;
};

}  // namespace dj::ir
