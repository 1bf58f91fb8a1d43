// SPDX-License-Identifier: Apache-2.0
// run_loop() is what djtap does while the target runs. It waits for the target's end, a signal,
// timers and exit(), and empties the rings in between. It holds no ptrace.
#pragma once
#include <signal.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "compiler/base/result.h"

namespace dj {

enum class Ended : uint8_t {
  TargetExited,   // also killed, crashed
  Interrupted,    // ending_signals() to djtap
  ExitCalled,     // a handler called exit()
  TooManyErrors,  // -D MAXERRORS
  OutputClosed,   // no program reads the script's output any more
};

struct LoopTimer {
  uint64_t interval_ns = 0;
  uint64_t random_ns = 0;  // each interval is longer or shorter by up to this
  std::function<void()> fire;
};

struct LoopBell {
  int fd = -1;  // readable: `answer` has to be called, then LoopActions::drain
  std::function<void()> answer;
};

struct LoopActions {
  int pidfd = -1;                   // the target; -1: none, only timers and signals end the session
  std::function<bool()> all_ended;  // whether all processes have ended; empty: pidfd alone tells
  std::vector<LoopTimer> timers;
  int control_fd = -1;            // -1: none; readable: `control` has something to do
  std::function<void()> control;  // may add timers
  std::vector<LoopBell> bells;
  bool is_often = false;          // the target's loader waits for `drain` and cannot ring: often
  std::function<size_t()> drain;  // empties the rings; returns the number of events
  std::function<bool()> exit_requested;
  std::function<bool()> too_many_errors;
  std::function<bool()> output_closed;
  // Ctrl-Z: called with true before djtap is stopped, with false when it goes on.
  std::function<void(bool)> stopped;
};

// HeldSignals: a scope in which ending_signals() wait for the loop instead of ending djtap, so that
// they never fall between arming and the loop, or into disarming. SIGTSTP (Ctrl-Z) waits, too:
// while djtap has stopped the target, it is not stopped itself. SIGXFSZ does not end djtap either:
// a write that is too long for RLIMIT_FSIZE fails with EFBIG. SIGCHLD waits for wait_for_news()
// (runtime/process/news_wait.h).
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  // The signal mask from before, for the child.
  const sigset_t& before() const { return before_; }

 private:
  sigset_t before_;
};

// Runs until one of Ended. The caller holds HeldSignals; a signalfd takes the signals. Fails when
// the system gives no descriptor or timer.
Result<Ended> run_loop(LoopActions& actions);

}  // namespace dj
