// SPDX-License-Identifier: Apache-2.0
// Code is one LLVM function that is being written. The definer of that function (handlers.cpp) owns
// it and hands it down to all that emits instructions. What always holds: `b` stands
// in a block that has no end yet, and evaluation is written down strictly from left to right.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "compiler/lower/unit.h"

namespace dj::ir {

// A script value in registers: a 64-bit int, or the address of a Str.
struct Value {
  llvm::Value* word = nullptr;
  bool interned = false;  // a Str whose address is the only one of its text
};

class Code {
 public:
  // function: without blocks yet; its entry block becomes the place of all slots. context: of type
  // abi::Context*, or null when the code needs none (or gets it later). site: a half.
  Code(Unit& unit, llvm::Function* function, llvm::Value* context, llvm::Value* site);

  Unit& unit;
  llvm::IRBuilder<> b;

  void set_context(llvm::Value* context) { context_ = context; }
  bool has_context() const { return context_ != nullptr; }
  llvm::Value* context() const;               // which there must be (Needs::context)
  llvm::Value* context_field(size_t offset);  // address of a field of abi::Context
  void set_site(llvm::Value* site) { site_ = site; }
  llvm::Value* site() const { return site_; }

  llvm::Constant* number(int64_t value) const { return unit.number(value); }
  llvm::Constant* number32(uint32_t value) const { return unit.number32(value); }
  // Calls an agent entry of runtime/shared/entries.h.
  llvm::CallInst* call(std::string_view entry, llvm::ArrayRef<llvm::Value*> args);
  llvm::LoadInst* load(llvm::Value* place);    // a word
  llvm::LoadInst* load32(llvm::Value* place);  // a half
  llvm::Value* as_pointer(llvm::Value* word) { return b.CreateIntToPtr(word, unit.pointer); }
  // An uninitialised stack slot of `count` of the type, alive for the whole function.
  llvm::AllocaInst* slot(llvm::Type* type, const char* name, uint32_t count = 1);
  // The words in a row, in a slot of their own.
  llvm::AllocaInst* row(const std::vector<llvm::Value*>& words);
  // The place behind all slots, before the code: what is put there runs once, first.
  llvm::Instruction* first_place() const { return entry_->getTerminator(); }

  llvm::BasicBlock* block(const char* name);
  // The block of the function's end; the owner inserts and fills it.
  llvm::BasicBlock* exit() const { return exit_; }
  // Ends the current block with a jump; what follows is unreachable.
  void jump(llvm::BasicBlock* to);
  // The same for a jump backwards: it costs an action (MAXACTION), so that every handler ends.
  void back_edge(llvm::BasicBlock* to);

  // Raises a script error when condition (i1) is true: the code goes on in the catch, or ends.
  void fail_if(llvm::Value* condition, Span span, uint32_t kind, llvm::Value* a);
  // The same where the error was raised already.
  void leave_if(llvm::Value* condition);
  void leave_if_raised();  // behind a call that may have raised one
  // Tells the agent what an error that the next call raises is the error of.
  void note_span(Span span);
  // Blocks of the handlers of open try blocks, innermost last: errors go there.
  void open_try(llvm::BasicBlock* caught) { catches_.push_back(caught); }
  void close_try() { catches_.pop_back(); }
  size_t tries() const { return catches_.size(); }
  // Before a jump out of all but the outer `kept` try blocks of this function.
  void leave_tries(size_t kept);

  // Notes a form that cannot be built; the rest of the code is then worthless.
  void fail(std::string message);
  // The first one that was noted; empty: none.
  const std::string& failure() const { return failure_; }

 private:
  llvm::BasicBlock* error_exit() const { return catches_.empty() ? exit_ : catches_.back(); }

  llvm::Function* function_;
  llvm::BasicBlock* entry_;
  llvm::BasicBlock* exit_;
  llvm::Value* context_;
  llvm::Value* site_;
  std::vector<llvm::BasicBlock*> catches_;
  std::string failure_;
};

}  // namespace dj::ir
