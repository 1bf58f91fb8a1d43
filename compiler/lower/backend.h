// SPDX-License-Identifier: Apache-2.0
// Backend owns LLVM's description of the processor. It takes as long to make as a small module's
// code, so all lower() runs of a process share the one that their caller holds (lowering.h).
#pragma once
#include <memory>
#include <mutex>
#include <string>

#include "compiler/base/result.h"

namespace llvm {
class TargetMachine;
}

namespace dj::ir {

class Backend {
 public:
  static constexpr const char* kTriple = "x86_64-unknown-linux-gnu";

  Backend();
  ~Backend();

  // Lent gives the description to one thread; the others wait in lend() until it is destroyed.
  class Lent {
   public:
    Lent(llvm::TargetMachine& machine, std::mutex& use) : alone_(use), machine_(&machine) {}
    llvm::TargetMachine* get() const { return machine_; }
    llvm::TargetMachine* operator->() const { return machine_; }

   private:
    std::unique_lock<std::mutex> alone_;
    llvm::TargetMachine* machine_;
  };

  // Both make the description if this is the first call; any thread may call them. look() gives
  // what never changes, also while a thread has it lent; lend() is for passes and for code.
  Result<const llvm::TargetMachine*> look();
  Result<Lent> lend();

 private:
  Result<llvm::TargetMachine*> made();

  std::once_flag once_;
  std::unique_ptr<llvm::TargetMachine> machine_;  // null: LLVM makes none, `error_` says why
  std::string error_;
  std::mutex use_;
};

}  // namespace dj::ir
