// SPDX-License-Identifier: Apache-2.0
// ask_kernel() makes a system call that a seccomp filter of the process may forbid: it does not
// make one that is denied.
#pragma once
#include "runtime/agent/arena.h"
#include "runtime/agent/syscall.h"
#include "runtime/shared/denied.h"
#include "runtime/shared/thread_table.h"

namespace dj::agent {

// Of this process.
inline uint64_t denied_calls() {
  const abi::ThreadTable* table = abi::thread_table_of(arena());
  return table != nullptr ? abi::load(&table->denied) : 0;
}
inline bool is_denied(int64_t number) { return (denied_calls() & abi::asked_bit(number)) != 0; }

// -EPERM for what is denied.
inline int64_t ask_kernel(int64_t number, uint64_t a = 0, uint64_t b = 0, uint64_t c = 0,
                          uint64_t d = 0, uint64_t e = 0, uint64_t f = 0) {
  return is_denied(number) ? -kEperm : raw_syscall(number, a, b, c, d, e, f);
}

// Signal 0 says whether there is such a thread; a foreign one (EPERM) lives.
inline bool thread_is_gone(uint32_t tid) { return ask_kernel(kSysTkill, tid, 0) == -kEsrch; }

}  // namespace dj::agent
