// SPDX-License-Identifier: Apache-2.0
// How return handlers come to the calls that return (agent: dj_capture_take, dj_syscall_take,
// dj_tail_*).
#pragma once
#include "compiler/lower/body.h"

namespace dj::ir {

// CallTaker: the beginning and the end of a return handler's body.
class CallTaker {
 public:
  // The builder stands where the body is to begin. rsp: of the program at the exit.
  CallTaker(Unit& unit, Body& body, HandlerId id, llvm::Value* rsp)
      : unit_(unit), body_(body), id_(id), rsp_(rsp), begin_(body.code().b.GetInsertBlock()) {}
  // Takes the call that returns, and its entry values, whose words it returns. Without entry values
  // that it needs the handler ends. A handler that follows tail calls learns from the detour what
  // exit this is, and its site may be that of another function.
  llvm::Value* take();
  // At the end of the body: where several calls return at once, the body runs for each.
  void take_more();

 private:
  llvm::Value* call(const char* entry, llvm::Value* values);
  void leave_without(llvm::Value* taken);
  void take_own(llvm::Value* values);

  Unit& unit_;
  Body& body_;
  HandlerId id_;
  llvm::Value* rsp_;
  llvm::BasicBlock* begin_;
  llvm::Value* of_callee_ = nullptr;
};

// dj_leave_N, for tail jumps (takes the exit word where other handlers take the site), and
// dj_land_N, for the first instructions of callees.
void define_tail_calls(Unit& unit, HandlerId id);

}  // namespace dj::ir
