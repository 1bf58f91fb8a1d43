// SPDX-License-Identifier: Apache-2.0
// Which handlers run on the program's stack, and which where there is room: OwnStacks decides it
// for a module, behind its optimisation and before its code is made.
#pragma once
#include <llvm/IR/Module.h>

#include <set>
#include <string>

#include "compiler/stages/layout.h"

namespace dj::ir {

// Attribute of a handler: bytes that its frame may have on the program's stack.
inline constexpr const char* kFrameLimit = "warn-stack-size";  // what LLVM calls it

// OwnStacks: what a handler calls, or all of the handler, looks first where it runs, and asks the
// agent for an own stack (runtime/shared/own_stack.h) where that is not the first thread's. A
// handler whose frame is no larger than kFrameLimit stays where it is, and only what it calls is
// moved: most hits call nobody. Module and layout must outlive it.
class OwnStacks {
 public:
  OwnStacks(llvm::Module& module, const Layout& layout);

  // Decides for every handler that calls a function.
  void give_to_callers();
  // For handlers whose frame was too large when code was made. False: there was none; else code
  // must be made anew.
  bool give_to_large();

 private:
  void give_to_handler(llvm::Function& handler);
  void give_to_callees(llvm::Function& handler);
  void take_from_callees(llvm::Function& handler);
  llvm::Function* room_for_entry(const llvm::Function& entry);
  llvm::Function* declare_room(const llvm::Function& whose);
  void ask_for_program_stack(llvm::Function& body) const;
  uint64_t first_stack() const;

  llvm::Module& module_;
  const Layout& layout_;
  std::set<std::string> large_;  // filled while code is made
};

}  // namespace dj::ir
