// SPDX-License-Identifier: Apache-2.0
// thread.h gives the thread and process number of the thread that runs this handler, which the
// ThreadTable keeps by fs base. Only a thread that is registered with rseq is looked up there. A
// vfork child and an unborn thread share memory or a thread control block with another thread: they
// are not registered (agent/syscall_filter.cpp sees to that), and ask the kernel.
#pragma once
#include "runtime/agent/arena.h"
#include "runtime/agent/ask.h"
#include "runtime/agent/cold_call.h"
#include "runtime/shared/thread_table.h"

#pragma GCC visibility push(hidden)
extern "C" {
// thread.cpp. This thread's number from the kernel; kept in the table where that is allowed.
DJ_COLD_CALL uint32_t dj_ask_thread_id();
}
#pragma GCC visibility pop

namespace dj::agent {

constexpr uint32_t kTidBits = 22;  // PID_MAX_LIMIT is 4 Mi
constexpr uint64_t kTidMask = (uint64_t{1} << kTidBits) - 1;
constexpr uint64_t kControlBlockAlign = 64;  // 2 to the 6th

inline uint64_t thread_word(uint64_t fs, uint32_t tid) {
  return fs / kControlBlockAlign << kTidBits | tid;
}

inline uint64_t fs_base() {
  uint64_t fs;
  asm volatile("movq %%fs:0, %0"
               : "=r"(fs));  // the thread control block starts with its own address
  return fs;
}

inline uint32_t kernel_process_id() {
  if (!is_denied(kSysGetpid)) return static_cast<uint32_t>(raw_syscall(kSysGetpid));
  return static_cast<uint32_t>(abi::load(&abi::thread_table_of(arena())->pid));
}
// Where that may not be asked, a number that no other thread of the process has.
inline uint32_t kernel_thread_id() {
  if (!is_denied(kSysGettid)) return static_cast<uint32_t>(raw_syscall(kSysGettid));
  return static_cast<uint32_t>(fs_base() / kControlBlockAlign & kTidMask);
}

// Null where this thread must ask the kernel.
inline abi::ThreadTable* thread_table() {
  if (!dj_has_rseq || static_cast<int32_t>(rseq_cpu()) < 0) return nullptr;
  return abi::thread_table_of(arena());
}
// What context_runs and own_stack_runs say of this thread. A forked child is the same as the thread
// that has forked.
inline uint64_t run_of_thread() { return thread_table() != nullptr ? fs_base() : abi::kUnknownRun; }
inline uint64_t thread_index(uint64_t fs) {
  return fs / kControlBlockAlign * 0x9e3779b97f4a7c15ull >> (64 - abi::kThreadSlotBits);
}
// Rotated, a base that is not aligned is like none in the table.
inline bool is_word_of(uint64_t word, uint64_t fs) {
  return word >> kTidBits == (fs >> 6 | fs << 58);
}
inline uint32_t tid_of(uint64_t word) { return static_cast<uint32_t>(word & kTidMask); }

inline uint32_t thread_id() {
  abi::ThreadTable* table = thread_table();
  if (__builtin_expect(table == nullptr, 0)) return dj_ask_thread_id();
  uint64_t fs = fs_base();
  uint64_t word = abi::load(&table->slots[thread_index(fs)]);
  bool known = is_word_of(word, fs) && tid_of(word) != 0;
  return __builtin_expect(known, 1) ? tid_of(word) : dj_ask_thread_id();
}

inline uint32_t process_id() {
  abi::ThreadTable* table = thread_table();
  if (table == nullptr) return kernel_process_id();
  uint64_t pid = abi::load(&table->pid);
  if (pid == 0) {
    pid = kernel_process_id();
    abi::store(&table->pid, pid);
  }
  return static_cast<uint32_t>(pid);
}

// Whether this process has its memory for itself: a vfork child has its parent's.
inline bool owns_memory() {
  auto* table = abi::thread_table_of(arena());
  if (table == nullptr) return false;
  const uint64_t pid = kernel_process_id(), known = abi::load(&table->pid);
  if (known == 0) abi::store(&table->pid, pid);
  return known == 0 || known == pid;
}

// The session, in this process.
inline bool has_ended() {
  const abi::ThreadTable* table = abi::thread_table_of(arena());
  return table != nullptr && abi::load(&table->ended) != 0;
}

// The application's action for SIGTRAP; null: the process has no private memory.
inline abi::AppAction* trap_action() {
  abi::ThreadTable* table = abi::thread_table_of(arena());
  return table != nullptr ? &table->own_trap : nullptr;
}

// forked.cpp. What this thread, `tid`, runs with becomes its own again if it is the first one of a
// forked child.
void take_over(abi::ThreadTable* table, uint32_t tid);
// A new thread is going to have its control block at `fs`: what is known of the one before it,
// which has ended, is no longer true.
void forget_thread(uint64_t fs);
// capture.cpp. Its calls will not return.
void forget_calls(abi::ThreadBlock* block);

}  // namespace dj::agent
