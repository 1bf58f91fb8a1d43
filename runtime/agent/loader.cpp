// Where the target's loader says that objects came or went: its thread waits here until djtap has
// looked, so that probes stand in a new object before any of its code runs.
#include "runtime/agent/arena.h"
#include "runtime/agent/ask.h"

using namespace dj;
using agent::arena;

namespace {

constexpr uint64_t kFutexWait = 0;  // of words that processes share
constexpr int64_t kRoundNs = 100'000'000;
constexpr int kRounds = 300;  // then djtap hangs, and the target goes on without it for now

struct Timespec {
  int64_t seconds, nanoseconds;
};

bool is_answered(const abi::LoaderTalk& talk, uint32_t event) {
  return static_cast<int32_t>(abi::load(&talk.answered) - event) >= 0;
}

// Nobody sees that in a pid namespace of its own.
bool is_killed(const abi::LoaderTalk& talk) {
  const bool sees = arena()->target_own_pid == arena()->target_pid;
  return sees && agent::ask_kernel(agent::kSysKill, talk.controller, 0) == -agent::kEsrch;
}

}  // namespace

void dj_loader_event() {
  abi::LoaderTalk& talk = arena()->loader;
  if (abi::load(&talk.awaits) == abi::kNobody || agent::is_denied(agent::kSysFutex)) return;
  const uint32_t event = __atomic_add_fetch(&talk.events, 1, __ATOMIC_SEQ_CST);
  const Timespec round = {0, kRoundNs};
  for (int i = 0; i < kRounds; ++i) {
    const uint32_t seen = abi::load(&talk.answered);
    if (is_answered(talk, event) || abi::load(&talk.awaits) != abi::kAwaited) return;
    agent::ask_kernel(agent::kSysFutex, agent::word(&talk.answered), kFutexWait, seen,
                      agent::word(&round));
    if (is_killed(talk) && !is_answered(talk, event)) return;
  }
  abi::store(&talk.awaits, uint32_t{abi::kNotAwaited});
}
