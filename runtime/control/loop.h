// The loop: what djtap does while the target runs. Waits for the target's end, a signal, timers and
// exit(), and empties the rings in between. Holds no ptrace.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "compiler/result.h"

namespace dj {

enum class Ended : uint8_t {
  TargetExited,  // also killed, crashed
  Interrupted,   // SIGINT or SIGTERM to djtap
  ExitCalled,    // a handler called exit()
  TooManyErrors, // -D MAXERRORS
  OutputClosed,  // nobody reads the script's output any more
};

struct LoopTimer {
  uint64_t interval_ns = 0;
  std::function<void()> fire;
};

struct LoopActions {
  int pidfd = -1;                          // the target; -1: none, only timers and signals end the session
  std::vector<LoopTimer> timers;
  std::function<size_t()> drain;           // empties the rings; returns the number of events
  std::function<bool()> exit_requested;
  std::function<bool()> too_many_errors;
  std::function<bool()> output_closed;
};

// Runs until one of Ended. Blocks SIGINT and SIGTERM for the calling thread meanwhile (a signalfd takes
// them); call after the child was started, so that it does not inherit the mask.
Result<Ended> run_loop(LoopActions& actions);

}  // namespace dj
