// SPDX-License-Identifier: Apache-2.0
// Body: the statements of one handler or script function on their way to LLVM instructions. It
// belongs to define_handler() or define_function() (handlers.cpp), lives as long as that function
// is written, and holds what a node's lowering must know of what stands around it: the variables,
// the loops and inlined functions that are open, and what the probed place gives. What one node
// becomes is a function of nodes.h.
#pragma once
#include <vector>

#include "compiler/lower/code.h"
#include "compiler/lower/locations.h"

namespace dj::ir {

class Body {
 public:
  // As Code's. The frame's variables get slots, and are 0 or "" from the beginning.
  Body(Unit& unit, llvm::Function* function, llvm::Value* context, llvm::Value* site,
       const Frame& frame);

  Code& code() { return code_; }
  // Where target values are read: in a handler, after set_machine() of it.
  Locations& locations() { return locations_; }
  // handler: whose target values and entry values are read; it outlives this. machine: what its
  // detour pushes.
  void set_machine(const Handler& handler, const Machine& machine);
  const TargetPlan& target_plan(TargetId id) const;

  // Write the node at the end of the code.
  void statement(const Stmt& stmt);
  Value expression(const Expr& expr);
  llvm::Value* number(const Expr& expr) { return expression(expr).word; }
  llvm::Value* condition(const Expr& expr);  // as i1

  // A variable's slot: a word.
  llvm::AllocaInst* local(LocalId id) const { return locals_[id]; }
  bool is_double(LocalId id) const { return frame_.locals[id].type == Type::Double; }
  void reset(LocalId id);  // to 0 or ""
  // The slot of a script function's value; null in a handler.
  void set_result(llvm::AllocaInst* result) { result_ = result; }
  llvm::AllocaInst* result() const { return result_; }

  // What `break`, `continue` and, in an inlined function, `return` leave: the blocks behind it and,
  // of a loop, before its next round; `tries` were open where it begins.
  struct Open {
    llvm::BasicBlock* done;
    llvm::BasicBlock* next;
    size_t tries;
  };
  // Writes the statement with `open` as the innermost loop, or function.
  void loop_body(const Stmt* body, llvm::BasicBlock* next, llvm::BasicBlock* done);
  void function_body(const Stmt& body, llvm::BasicBlock* done);
  const Open& loop() const { return loops_.back(); }
  const Open* function() const { return functions_.empty() ? nullptr : &functions_.back(); }

 private:
  Code code_;
  Locations locations_;
  const Handler* handler_ = nullptr;  // null in script functions
  const Frame& frame_;
  std::vector<llvm::AllocaInst*> locals_;
  llvm::AllocaInst* result_ = nullptr;
  std::vector<Open> loops_, functions_;  // innermost last
};

}  // namespace dj::ir
