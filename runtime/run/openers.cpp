// SPDX-License-Identifier: Apache-2.0
// The thread is traced from before it passes the gate, so that no code of the library runs before
// djtap has seen what it opens the library for.
#include "runtime/run/openers.h"

#include <unistd.h>

#include <utility>

#include "runtime/process/os_error.h"
#include "runtime/process/process.h"
#include "runtime/process/session_processes.h"
#include "runtime/run/give_up_rights.h"

namespace dj {

Result<Launched> lead_to_start(ExecGate* gate, ExecTracee& thread) {
  const int pid = thread.pid();
  if (gate != nullptr) gate->let_through(pid, true);
  Result<Launched> launched = thread.reach_start();
  if (gate != nullptr) gate->let_through(pid, false);
  return launched;
}

Result<std::optional<TracedProcess>> lead_opener(ExecGate& gate, int tid, bool trusted) {
  constexpr uint64_t kPatienceNs = 200'000'000;
  constexpr useconds_t kMomentUs = 30;
  if (!trusted) DJ_TRY_DO(check_rights(tid));
  DJ_TRY_DO(check_traceable(process_of(tid)));
  DJ_TRY(ExecTracee thread, ExecTracee::seize(tid));
  thread.stop_soon();
  gate.let_pass(tid);
  const uint64_t end = now_ns() + kPatienceNs;
  while (thread.poll() == ExecTracee::State::Running && now_ns() < end) usleep(kMomentUs);
  // The kernel opens the loader itself, in execve().
  const bool executes = thread.state() == ExecTracee::State::AtExec;
  if (!executes && thread.state() != ExecTracee::State::Stands)
    return std::optional<TracedProcess>();
  const auto opening = executes ? ExecTracee::Opening::Start : thread.opening();
  if (opening == ExecTracee::Opening::Reading) return std::optional<TracedProcess>();
  if (opening == ExecTracee::Opening::Later) {
    DJ_TRY(TracedProcess process, TracedProcess::opening(std::move(thread)));
    return std::optional<TracedProcess>(std::move(process));
  }
  DJ_TRY(Launched launched, lead_to_start(&gate, thread));
  DJ_TRY(TracedProcess process, TracedProcess::executed(std::move(launched)));
  return std::optional<TracedProcess>(std::move(process));
}

}  // namespace dj
