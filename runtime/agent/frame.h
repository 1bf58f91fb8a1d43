// Stack frames: whether one that left something behind still exists.
#pragma once
#include "runtime/agent/ask.h"

namespace dj::agent {

inline uint64_t stack_pointer() {
  uint64_t sp;
  asm volatile("movq %%rsp, %0" : "=r"(sp));
  return sp;
}

// Whether the frame at `frame` of this thread, which runs at `stack` now, is gone (longjmp,
// exception): below the stack pointer. A signal handler on its own stack may find frames of the
// interrupted one there, which live. 0: whoever owns the record has not written it yet.
inline bool frame_is_gone(uint64_t frame, uint64_t stack) {
  if (frame == 0 || frame > stack) return false;
  struct {
    uint64_t base;
    int32_t flags, pad;
    uint64_t bytes;
  } alternate;
  constexpr int32_t kOnStack = 1;
  if (ask_kernel(kSysSigaltstack, 0, word(&alternate)) != 0) return false;
  if ((alternate.flags & kOnStack) == 0) return true;
  return frame >= alternate.base && frame < alternate.base + alternate.bytes;
}

}  // namespace dj::agent
