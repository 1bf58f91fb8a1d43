// SPDX-License-Identifier: Apache-2.0
// FoldArena: a pass that replaces loads of arena words which never change during a session (the
// header's and the maps' sizes and addresses) by their values, so that the agent's code, inlined,
// computes with constants.
#pragma once
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PassManager.h>

#include <map>
#include <string>

#include "compiler/stages/layout.h"
#include "compiler/stages/program.h"

namespace dj::ir {

// Bytes of the arena that are fixed before the first handler runs, by address.
using FixedBytes = std::map<uint64_t, std::string>;
FixedBytes fixed_bytes(const Program& program, const Layout& layout);

class FoldArena : public llvm::PassInfoMixin<FoldArena> {
 public:
  explicit FoldArena(const FixedBytes& fixed) : fixed_(fixed) {}
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&);

 private:
  // The value that this load always finds, or null.
  llvm::Constant* value_of(const llvm::LoadInst& load) const;

  const FixedBytes& fixed_;
};

}  // namespace dj::ir
