// SPDX-License-Identifier: Apache-2.0
// StackWalk walks the program's stack at a site, frame by frame, by the session's StackTables. It
// checks each read of the stack, and ends where it cannot explain a frame.
#pragma once
#include "runtime/shared/context.h"
#include "runtime/shared/unwind.h"

namespace dj::agent {

// Null: this session has none.
const abi::StackTables* stack_tables();

// Which modules an address may mean, as find_stack_module()'s `unwanted`.
constexpr uint32_t kWalkedNow = abi::kModuleGone;  // it was found on the stack in this hit
// A script gives it, who knows since when. A handler in the target most likely has it from this
// hit, so it means what is there; djtap's own has it from earlier ones.
inline uint32_t given_to(const abi::Context* ctx) {
  return ctx->stack_pointer == 0 ? abi::kModuleShared : 0;
}

class StackWalk {
 public:
  // Stands before the site's own frame.
  StackWalk(const abi::Context* ctx, uint32_t site);
  // To the next frame, towards the caller. False: there is none, or MAXBACKTRACE are done, which is
  // counted where there would have been more.
  bool next();
  // Where that frame runs: the site's address, then return addresses.
  uint64_t address() const { return pc_; }
  // A return address belongs to the call before it.
  uint64_t place() const { return exact_ ? pc_ : pc_ - 1; }

 private:
  bool step();
  bool step_by(const abi::UnwindRule& rule);
  bool step_without_rules();
  bool step_by_epilogue();
  bool step_by_frame_pointer();
  static bool is_behind_call(uint64_t pc);
  bool leave_signal_frame();
  bool leave_own_code();  // own_walk.cpp. False: it cannot be told where that leads
  bool step_in_own_code();
  bool go_to_caller(uint64_t frame_address, const abi::UnwindRule& rule);
  const abi::UnwindRule* rule_here() const;
  bool read(uint64_t address, uint64_t* word);

  const abi::StackTables* tables_;
  uint64_t pc_ = 0, sp_ = 0, saved_[abi::kSavedRegisters];
  bool exact_ = true;      // pc_ is the next instruction, not a return address
  bool boundary_ = false;  // only the return address stands on the stack
  uint32_t left_ = 0;      // frames that may still come
  bool started_ = false;
  bool is_over_ = true;
  static constexpr uint32_t kWindowWords = 64;
  uint64_t window_at_ = 0, window_words_ = 0, window_[kWindowWords];  // stack read ahead
};

// "name+0x12/0x34 [module]", "name", "module" of an address.
struct StackSymbolAt {
  const abi::Str* name = nullptr;    // null: unknown
  uint64_t offset = 0, size = 0;     // offset from the name, else from the module's first byte
  const abi::Str* module = nullptr;  // null: in none
};
StackSymbolAt symbol_at(uint64_t address, uint32_t unwanted);
// The first byte of the module that lies there; 0: none does.
uint64_t module_begin(uint64_t address, uint32_t unwanted);

}  // namespace dj::agent
