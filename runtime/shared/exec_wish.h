// SPDX-License-Identifier: Apache-2.0
// ExecWish is how a thread of a session that is about to execute another program waits until djtap
// traces it, so that probes stand in the new program before any of its code runs. Data: djtap
// believes none of it, and looks itself whether the thread is one of the session's.
#pragma once
#include <stdint.h>

namespace dj::abi {

constexpr uint32_t kExecWishes = 64;

enum ExecState : uint32_t {
  kExecFree,
  kExecTaken,   // the agent is about to write it
  kExecAsks,    // the thread waits, and says so if the call fails
  kExecLeaves,  // the thread waits, and says nothing more
  kExecGoes,    // by djtap: the thread may go on
  kExecFailed,  // the call has failed, and the thread waits until djtap traces it no more
};

struct ExecWish {
  uint32_t state;  // ExecState, a futex
  uint32_t tid;    // as the thread knows itself
  uint64_t path;   // address of the text in that thread's memory; 0: a descriptor names the file
  int64_t folder;  // descriptor that the path is relative to; AT_FDCWD
};
struct ExecTalk {
  uint32_t events;   // a futex: how often a thread has said something
  uint32_t is_over;  // 1: djtap answers no more; by djtap
  uint64_t missed;   // programs whose threads have not waited longer
  uint64_t answers;  // that djtap has given: who sees them waits on
  ExecWish wishes[kExecWishes];
};

}  // namespace dj::abi
