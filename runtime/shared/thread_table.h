// SPDX-License-Identifier: Apache-2.0
// thread_table.h lays out private memory, which each process of a session has for itself, djtap
// too. It lies behind the arena, in no file, and no other process can write it (djtap does through
// /proc/PID/mem):
//
//   Contexts     (context.h) scratch memory of handlers
//   ThreadTable  the threads' numbers, so that the kernel need not be asked at every hit, the first
//                of their calls that return probes wait for, the program's own signal actions, and
//                a control block for the time before the program has one
//   OwnFrames    (own_code.h) call frame information and gates of fault handlers
//   OwnStacks    (own_stack.h) of handlers
//
// A forked child finds the ThreadTable up to `denied` wiped (MADV_WIPEONFORK), the rest as its
// parent had it: who runs where is not true there, but a handler that was interrupted by the signal
// handler that has forked goes on, in its Context and on its OwnStack. The child's first thread
// takes these over (agent/forked.cpp). Handlers write to all of it, and djtap to the last part of
// the ThreadTable while all threads stand.
#pragma once
#include "runtime/shared/capture.h"
#include "runtime/shared/fault_gates.h"
#include "runtime/shared/own_code.h"
#include "runtime/shared/own_stack.h"
#include "runtime/shared/trap.h"

namespace dj::abi {

constexpr uint32_t kThreadSlotBits = 11;
constexpr uint32_t kThreadSlots = 1 << kThreadSlotBits;
constexpr uint32_t kThreadCaptureBits = 4;

// ThreadBlock holds Captures of one thread. While `word` is the thread's, only that thread makes
// entries of it, so it needs no locked instruction for that.
struct ThreadBlock {
  uint64_t word;  // as in ThreadTable::slots, but no other thread takes it over
  uint64_t pad[7];
  Capture captures[1 << kThreadCaptureBits];
};

// RaisedSemaphore: of an SDT mark, counted up once for the session; in the target's data.
struct RaisedSemaphore {
  uint64_t address;  // 0: none
  uint64_t inode;    // of the file that is mapped there; 0: none is
};
constexpr uint32_t kMostRaised = 8192;
constexpr uint64_t kUnknownRun = 1;  // by a thread whose fs base is not known
constexpr uint32_t kMostSharedAreas = 502;
constexpr uint64_t kEarlyBlockBytes = 64 << 10;

// A thread has one place in `slots` and `blocks`, by its fs base. Two may have the same.
struct ThreadTable {
  uint64_t slots[kThreadSlots];  // (fs base >> 6) << 22 | tid, of who asked last; 0: empty
  uint64_t pid;                  // 0: not asked yet
  uint64_t taken_over;           // 1: a thread of this process has asked for its number
  OwnStackWords own_stacks;
  uint64_t pad[510 - sizeof(OwnStackWords) / 8];
  uint64_t context_owners[kMostContexts];  // thread's id; 0: the Context is free. Taken by CAS
  ThreadBlock blocks[kThreadSlots];
  // From here on nothing is wiped: a forked child has what its parent had.
  uint64_t denied;     // system calls (denied.h)
  AppAction own_trap;  // what the program wants done with SIGTRAP; first by djtap, then by the hook
  uint64_t task;       // address of the Task (task.h) that a handler of djtap's runs for; 0: none
  uint64_t session;    // inode of the session's memory; written by djtap
  // 1: nothing of the session is in this process any more, and handlers need not run; written by
  // djtap.
  uint64_t ended;
  // How the C library has registered the threads' rseq areas; 0 bytes: not known. Written by djtap.
  int64_t rseq_offset;  // struct rseq minus fs base
  uint32_t rseq_bytes, rseq_signature;
  // Threads whose area the kernel has been told to leave alone, since another thread has the same;
  // 0: free. A forked child's are its parent's, and mean nothing.
  uint64_t shared_areas[kMostSharedAreas];
  RaisedSemaphore raised[kMostRaised];  // written by djtap
  FaultGates faults;
  // The thread that runs with each Context and on each OwnStack, by its fs base; kUnknownRun; 0:
  // none.
  uint64_t context_runs[kMostContexts];
  uint64_t own_stack_runs[kOwnStacks];
  uint64_t signal_stack[3];  // scratch of djtap: a thread's stack_t
  uint64_t tracees[8];       // vfork children that want to be traced (agent/tracees.h); 0: free
  uint64_t executes;         // the process that has called execve() last (agent/executes.h)
  uint64_t end_wanted;       // EndReason: this process waits until nothing of the session is in it
  // The program's loader writes to it where it makes a namespace of its own. Written by djtap.
  DebugEntry debug_entry;
  // 1: djtap has seen the loader's objects already that the next call tells of. Written by djtap.
  uint64_t loader_seen;
  uint64_t pad2[353 - sizeof(DebugEntry) / 8];
  // Its middle is the fs base of a static program's thread before it sets its own: there handlers
  // find a control block, and an rseq area that says "not registered".
  uint64_t early_block[kEarlyBlockBytes / 8];
};
constexpr uint64_t kWipedBytes = offsetof(ThreadTable, denied);
static_assert(kWipedBytes % 4096 == 0);
static_assert(sizeof(ThreadTable) % 4096 == 0);

// Of a ThreadTable at `threads`: the fs base.
constexpr uint64_t early_fs_base(uint64_t threads) {
  return threads + offsetof(ThreadTable, early_block) + kEarlyBlockBytes / 2;
}
// Is an rseq area at this distance from the fs base inside?
constexpr bool fits_early_block(int64_t rseq_offset) {
  constexpr int64_t kFarthest = kEarlyBlockBytes / 2 - 256;
  return -kFarthest < rseq_offset && rseq_offset < kFarthest;
}

// Distances in private memory, `context_bytes` of which are contexts (whole pages).
constexpr uint64_t own_frames_at(uint64_t context_bytes) {
  return context_bytes + sizeof(ThreadTable);
}
constexpr uint64_t own_frames_end(uint64_t context_bytes) {
  return own_frames_at(context_bytes) + (sizeof(OwnFrames) + 4095) / 4096 * 4096;
}
constexpr uint64_t private_bytes(uint64_t context_bytes) {
  return own_frames_end(context_bytes) + kOwnStackBytes + kOwnStacksBytes;
}
// Address of the first OwnStack in private memory that begins at `begin`.
constexpr uint64_t own_stacks_at(uint64_t begin, uint64_t context_bytes) {
  const uint64_t end = begin + own_frames_end(context_bytes);
  return (end + kOwnStackBytes - 1) / kOwnStackBytes * kOwnStackBytes;
}
// Of a whole Header.
inline uint64_t context_bytes(const Header* header) {
  return uint64_t{header->context_bytes} * header->context_count;
}
inline ThreadTable* thread_table_of(const Header* header) {
  return header->threads.get_or_null(arena_of(header));
}
// Null: the session has no private memory.
inline OwnFrames* own_frames_of(const Header* header) {
  ThreadTable* table = thread_table_of(header);
  return table == nullptr ? nullptr : reinterpret_cast<OwnFrames*>(table + 1);
}

}  // namespace dj::abi
