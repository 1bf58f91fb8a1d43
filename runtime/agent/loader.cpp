// SPDX-License-Identifier: Apache-2.0
// Where the target's loader says that objects came or went: its thread waits here until djtap has
// looked, so that probes stand in a new object before any of its code runs.
#include "runtime/agent/controller.h"

using namespace dj;
using agent::arena, agent::kFutexWait, agent::kFutexWake, agent::Timespec;

namespace {

constexpr int64_t kRoundNs = 100'000'000;
constexpr int kRounds = 300;     // then djtap hangs, and the target goes on without it for now
constexpr int kIdleRounds = 30;  // then it stands

bool is_answered(const abi::LoaderTalk& talk, uint32_t event) {
  return static_cast<int32_t>(abi::load(&talk.answered) - event) >= 0;
}

// Processor time that djtap has used, which grows while it works for us, or waits for our threads;
// -1: nobody can tell.
int64_t controller_ns() {
  constexpr uint32_t kOfProcess = 2;  // CPUCLOCK_SCHED
  const auto clock =
      static_cast<int32_t>(~static_cast<uint32_t>(arena()->controller) << 3 | kOfProcess);
  Timespec used = {};
  const int64_t result =
      agent::sees_controller()
          ? agent::ask_kernel(agent::kSysClockGettime, static_cast<uint64_t>(int64_t{clock}),
                              agent::word(&used))
          : -1;
  return result == 0 ? used.seconds * 1'000'000'000 + used.nanoseconds : -1;
}

// Whether djtap has stopped the program at this very call, to arm its probes.
bool is_seen() {
  abi::ThreadTable* table = abi::thread_table_of(arena());
  if (table == nullptr || abi::load(&table->loader_seen) == 0) return false;
  abi::store(&table->loader_seen, uint64_t{0});
  return true;
}

}  // namespace

void dj_loader_event() {
  abi::LoaderTalk& talk = agent::words().loader;
  if (is_seen()) return;
  if (abi::load(&talk.awaits) == abi::kNobody || agent::is_denied(agent::kSysFutex)) return;
  const uint32_t event = __atomic_add_fetch(&talk.events, 1, __ATOMIC_SEQ_CST);
  agent::ask_kernel(agent::kSysFutex, agent::word(&talk.events), kFutexWake, 1);
  const Timespec round = {0, kRoundNs};
  int64_t used = 0;
  for (int i = 0, idle = 0; i < kRounds && idle < kIdleRounds; ++i) {
    const uint32_t seen = abi::load(&talk.answered);
    if (is_answered(talk, event) || abi::load(&talk.awaits) != abi::kAwaited) return;
    agent::ask_kernel(agent::kSysFutex, agent::word(&talk.answered), kFutexWait, seen,
                      agent::word(&round));
    if (agent::controller_is_gone() && !is_answered(talk, event)) return;
    const int64_t now = controller_ns();
    idle = now == used ? idle + 1 : 0;
    used = now == -1 ? 0 : now;
  }
  abi::store(&talk.awaits, uint32_t{abi::kNotAwaited});
}
