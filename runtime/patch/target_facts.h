// SPDX-License-Identifier: Apache-2.0
// TargetFacts holds what a plan of patches may assume of its target. TracedProcess::facts() fills
// it for a process, a test fills it by hand. plan_patches() reads nothing else of a target, so
// files are enough.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

namespace dj {

// Reads the word at a runtime address of the target; false: it cannot be read.
using ReadWord = std::function<bool(uint64_t address, uint64_t& word)>;

struct TargetFacts {
  // Threads have rseq areas that handlers trust (hooks.h: can_trust_rseq()). The plan then hooks
  // the system calls that make a thread without one.
  bool has_rseq = true;
  // The target's code enters a kernel by `syscall`. A kernel's own code does not, and so has
  // nothing to hook.
  bool makes_system_calls = true;
  // Handlers can keep a call until it returns. A kernel's detours only count.
  bool keeps_calls = true;
  // Its threads run already. Then text can be written while they do (PatchOptions::live).
  bool is_running = false;
  // Dlopened objects only: the session has set SIGTRAP up, so an int3 can be among their places.
  bool has_trap = false;
  // Why no place can be an int3; empty: an int3 can be.
  std::string no_int3;
  // Tells where the words of GOTs lead through which functions are called. Empty: the files'
  // symbols alone tell.
  ReadWord read_word;
};

}  // namespace dj
