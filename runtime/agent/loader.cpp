// Where the target's loader says that objects came or went: its thread waits here until djtap has
// looked, so that probes stand in a new object before any of its code runs.
#include "runtime/agent/arena.h"
#include "runtime/agent/syscall.h"

using namespace dj;
using agent::arena;

namespace {

constexpr uint64_t kFutexWait = 0;  // of words that processes share
constexpr int64_t kRoundNs = 100'000'000;
constexpr int kRounds = 300;  // then djtap hangs, and the target goes on without it

struct Timespec {
  int64_t seconds, nanoseconds;
};

bool is_answered(const abi::LoaderTalk& talk, uint32_t event) {
  return static_cast<int32_t>(abi::load(&talk.answered) - event) >= 0;
}

}  // namespace

void dj_loader_event() {
  abi::LoaderTalk& talk = arena()->loader;
  if (abi::load(&talk.closed) != 0) return;
  const uint32_t event = __atomic_add_fetch(&talk.events, 1, __ATOMIC_SEQ_CST);
  const Timespec round = {0, kRoundNs};
  for (int i = 0; i < kRounds; ++i) {
    const uint32_t seen = abi::load(&talk.answered);
    if (is_answered(talk, event) || abi::load(&talk.closed) != 0) return;
    agent::raw_syscall(agent::kSysFutex, agent::word(&talk.answered), kFutexWait, seen,
                       agent::word(&round));
    const bool gone = agent::raw_syscall(agent::kSysKill, talk.controller, 0) == -agent::kEsrch;
    if (gone && !is_answered(talk, event)) return;  // killed, or in another pid namespace
  }
  abi::store(&talk.closed, 1u);
}
