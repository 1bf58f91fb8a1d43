// ThreadTable: what belongs to one process's threads alone: their numbers, so that the kernel need
// not be asked at every hit, and the first of their calls that return probes wait for. Private to
// each process (not in the memfd) and, but for its last page, wiped in a forked child. Lies right
// behind the arena, in djtap too. Handlers write to it, and djtap to its last part while all threads
// stand.
#pragma once
#include "runtime/shared/capture.h"
#include "runtime/shared/trap.h"

namespace dj::abi {

constexpr uint32_t kThreadSlotBits = 11;
constexpr uint32_t kThreadSlots = 1 << kThreadSlotBits;
constexpr uint32_t kThreadCaptureBits = 4;

// ThreadBlock: Captures of one thread. While `word` is the thread's nobody else makes entries of
// it, so that it needs no locked instruction for that.
struct ThreadBlock {
  uint64_t word;  // as in ThreadTable::slots, but nobody else takes it over
  uint64_t pad[7];
  Capture captures[1 << kThreadCaptureBits];
};

// RaisedSemaphore: of an SDT mark, counted up once for the session; in the target's data.
struct RaisedSemaphore {
  uint64_t address;  // 0: none
  uint64_t inode;    // of the file that is mapped there; 0: none is
};
constexpr uint32_t kMostRaised = 8192;
constexpr uint32_t kMostSharedAreas = 502;

// A thread has one place in `slots` and `blocks`, by its fs base. Two may have the same.
struct ThreadTable {
  uint64_t slots[kThreadSlots];  // (fs base >> 6) << 22 | tid, of who asked last; 0: empty
  uint64_t pid;                  // 0: not asked yet
  uint64_t pad[511];
  ThreadBlock blocks[kThreadSlots];
  // From here on nothing is wiped: a forked child has what its parent had.
  uint64_t denied;  // system calls (denied.h)
  // A fork of the target has asked for an action for SIGTRAP; the target's is TrapTable::app.
  uint64_t has_own_trap;
  AppAction own_trap;
  uint64_t session;  // inode of the session's memory; written by djtap
  // 1: nothing of the session is in this process any more, and handlers need not run; written by djtap.
  uint64_t ended;
  // How the C library has registered the threads' rseq areas; 0 bytes: not known. Written by djtap.
  int64_t rseq_offset;  // struct rseq minus fs base
  uint32_t rseq_bytes, rseq_signature;
  // Threads whose area the kernel has been told to leave alone, since another thread has the same;
  // 0: free. A forked child's are its parent's, and mean nothing.
  uint64_t shared_areas[kMostSharedAreas];
  RaisedSemaphore raised[kMostRaised];  // written by djtap
};
constexpr uint64_t kWipedBytes = offsetof(ThreadTable, denied);
static_assert(kWipedBytes % 4096 == 0);
static_assert(sizeof(ThreadTable) % 4096 == 0);

}  // namespace dj::abi
