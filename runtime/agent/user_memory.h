// SPDX-License-Identifier: Apache-2.0
// user_memory.h reads and writes memory of the program that may not be mapped: the kernel copies,
// and says how much it could.
#pragma once
#include "runtime/agent/arena.h"
#include "runtime/agent/thread.h"

namespace dj::agent {

constexpr uint64_t kPageBytes = 4096;

// Whose memory handlers read: those that djtap itself runs (begin, end, timers) the target's.
// Without a target that is process 0, of whom the kernel reads nothing.
inline uint32_t memory_owner() {
  const uint32_t pid = process_id();
  const abi::Header* header = arena();
  return header->controller == pid ? static_cast<uint32_t>(header->target_pid) : pid;
}

// Bytes read of `bytes` at `from`, or -errno. A range across pages must be asked for page by page:
// of one piece the kernel gives all or nothing.
inline int64_t read_user(void* to, uint64_t from, uint64_t bytes) {
  struct Piece {
    uint64_t base, length;
  } local = {word(to), bytes}, remote = {from, bytes};
  return ask_kernel(kSysProcessVmReadv, memory_owner(), word(&local), 1, word(&remote), 1, 0);
}
inline int64_t write_user(uint64_t to, const void* from, uint64_t bytes) {
  struct Piece {
    uint64_t base, length;
  } local = {word(from), bytes}, remote = {to, bytes};
  return ask_kernel(kSysProcessVmWritev, process_id(), word(&local), 1, word(&remote), 1, 0);
}
inline bool can_read(void* to, uint64_t from, uint64_t bytes) {
  return read_user(to, from, bytes) == static_cast<int64_t>(bytes);
}

// What a system call of the program's points to. Where the kernel may not copy for us (seccomp),
// the program's pointer is believed as the program believes it.
bool copy_in(void* to, uint64_t from, uint64_t bytes);
bool copy_out(uint64_t to, const void* from, uint64_t bytes);

}  // namespace dj::agent
