// SPDX-License-Identifier: Apache-2.0
// Locations: LocExprs, which are postfix programs, to straight code. A Body owns one. The stack
// exists only at compile time.
#pragma once
#include <vector>

#include "compiler/lower/program_registers.h"
#include "compiler/stages/location.h"

namespace dj::ir {

// A location's stack while it is lowered: words, and numbers of 128 bits; the top is last.
using LocationStack = std::vector<llvm::Value*>;
llvm::Value* pop(LocationStack& stack);

class Locations {
 public:
  explicit Locations(Code& code) : code_(code), registers_(code) {}
  // Before anything that reads a register or an entry value. capture: of the handler; it outlives
  // this.
  void set_place(const ReturnCapture& capture, const Machine& machine);

  // The word that the location computes. args: PushArg's. A read that fails is an error at span.
  llvm::Value* value(const LocExpr& location, const std::vector<llvm::Value*>& args, Span span);
  // The same, but where a read fails *bad (a half) becomes 1 instead.
  llvm::Value* lenient(const LocExpr& location, const std::vector<llvm::Value*>& args,
                       llvm::Value* bad, Span span);

  // For location_jumps.cpp. Changes the stack as the step says; no label or jump.
  void step(const LocStep& step, LocationStack& stack, const std::vector<llvm::Value*>& args,
            Span span);
  llvm::Value* noted_in() const { return lenient_; }  // null: failed reads are raised
  Code& code() { return code_; }

 private:
  llvm::Value* push(const LocStep& step, const std::vector<llvm::Value*>& args);
  llvm::Value* unary(const LocStep& step, llvm::Value* operand, Span span);
  llvm::Value* checked_read(llvm::Value* address, const LocStep& step, Span span);
  llvm::Value* entry_value(int64_t slot);
  void note_unread_entry(int64_t slot);

  Code& code_;
  ProgramRegisters registers_;
  const ReturnCapture* capture_ = nullptr;
  llvm::Value* lenient_ = nullptr;
};

// A location with labels: a label is a block, and the stack's words there are slots that each way
// to it fills. LLVM makes registers of them. (location_jumps.cpp)
llvm::Value* value_with_jumps(Locations& locations, const LocExpr& location,
                              const std::vector<llvm::Value*>& args, Span span);

}  // namespace dj::ir
