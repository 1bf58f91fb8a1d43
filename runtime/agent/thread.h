// Who runs this handler: thread and process number, kept in the ThreadTable by fs base. Only a
// thread that is registered with rseq is looked up there: a vfork child and an unborn thread, which
// share memory or a thread control block with somebody else, are not (agent/syscall_filter.cpp sees
// to that), and ask the kernel.
#pragma once
#include "runtime/agent/arena.h"
#include "runtime/agent/syscall.h"

namespace dj::agent {

constexpr uint32_t kTidBits = 22;  // PID_MAX_LIMIT is 4 Mi
constexpr uint64_t kTidMask = (uint64_t{1} << kTidBits) - 1;
constexpr uint64_t kControlBlockAlign = 64;

inline uint64_t fs_base() {
  uint64_t fs;
  asm volatile("movq %%fs:0, %0"
               : "=r"(fs));  // the thread control block starts with its own address
  return fs;
}

// Null where this thread must ask the kernel.
inline abi::ThreadTable* thread_table() {
  if (!dj_has_rseq || static_cast<int32_t>(rseq_cpu()) < 0) return nullptr;
  return reinterpret_cast<abi::ThreadTable*>(arena()->threads);
}
inline uint64_t* thread_slot(abi::ThreadTable* table, uint64_t fs) {
  return &table->slots[(fs / kControlBlockAlign * 0x9e3779b97f4a7c15ull >> 32) % abi::kThreadSlots];
}

inline uint32_t thread_id() {
  abi::ThreadTable* table = thread_table();
  uint64_t fs = table != nullptr ? fs_base() : 0;
  if (fs == 0 || fs % kControlBlockAlign != 0) return kernel_thread_id();
  uint64_t* slot = thread_slot(table, fs);
  uint64_t word = abi::load(slot);
  if (word >> kTidBits == fs / kControlBlockAlign) return static_cast<uint32_t>(word & kTidMask);
  uint32_t tid = kernel_thread_id();
  abi::store(slot, fs / kControlBlockAlign << kTidBits | tid);
  return tid;
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

// A new thread is going to have its control block at `fs`: what is known of the one before it is no
// longer true.
inline void forget_thread(uint64_t fs) {
  auto* table = reinterpret_cast<abi::ThreadTable*>(arena()->threads);
  if (table != nullptr) abi::store(thread_slot(table, fs), uint64_t{0});
}

}  // namespace dj::agent
