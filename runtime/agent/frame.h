// SPDX-License-Identifier: Apache-2.0
// frame_is_gone() tells whether the stack frame that has left a record behind still exists.
#pragma once
#include "runtime/agent/ask.h"

namespace dj::agent {

// Whether the address lies on a stack of djtap's own.
inline bool is_own_stack(uint64_t address) {
  return address - arena()->own_stacks.address(place()) < abi::kOwnStacksBytes;
}

// The program's: where the handler runs on a stack of its own, the one that it has left.
inline uint64_t stack_pointer() {
  uint64_t sp;
  asm volatile("movq %%rsp, %0" : "=r"(sp));
  if (!is_own_stack(sp)) return sp;
  return reinterpret_cast<const abi::OwnStackTop*>(abi::own_stack_top(sp))->program_stack;
}

// SignalStack: this thread's; bytes 0: it has none. Where the program runs now says its stack
// pointer, not the kernel, to which a handler may be on a stack of its own.
struct SignalStack {
  uint64_t base;
  int32_t flags, pad;
  uint64_t bytes;
  bool holds(uint64_t address) const { return address - base < bytes; }
};

// False: the kernel may not be asked.
inline bool ask_signal_stack(SignalStack* found) {
  return ask_kernel(kSysSigaltstack, 0, word(found)) == 0;
}

// Whether the frame at `frame` of this thread, which runs at `stack` now, is gone (longjmp,
// exception): below the stack pointer. A signal handler on its own stack may find frames of the
// interrupted one there, which live. 0: the owner of the record has not written it yet.
inline bool frame_is_gone(uint64_t frame, uint64_t stack) {
  if (frame == 0 || frame > stack) return false;
  SignalStack alternate;
  if (!ask_signal_stack(&alternate)) return false;
  return !alternate.holds(stack) || alternate.holds(frame);
}

}  // namespace dj::agent
