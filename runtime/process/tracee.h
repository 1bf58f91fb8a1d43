// SPDX-License-Identifier: Apache-2.0
// Tracee is a process that djtap runs, stop by stop, from the exec of a program to the program's
// start (program_start.h).
#pragma once
#include <sys/ptrace.h>
#include <sys/types.h>

#include <cstdint>

#include "compiler/base/result.h"

namespace dj {

struct Tracee {
  // Whose process it is, which decides what becomes of it when it does not get on.
  enum class Kind : uint8_t {
    Started,   // djtap's: djtap kills it, and takes its wait status if it ends
    Followed,  // the program's: it goes on, and its wait status is left to its parent
  };
  // its_limit_ns: how long it may take until it is loaded.
  Tracee(Kind its_kind, pid_t its_pid, uint64_t its_limit_ns);

  Kind kind;
  pid_t pid;
  uint64_t limit_ns, deadline_ns;
  bool stands = false;     // in a ptrace-stop that djtap has seen
  bool has_ended = false;  // djtap has seen that, too
  int signal = 0;          // whose delivery it stands in; it gets the signal when it goes on
};

// TraceeStop says why run_tracee() returned: an event of PTRACE_EVENT_*, a system call stop, or
// neither: the signal that it was to return at.
struct TraceeStop {
  int event = 0;
  bool at_syscall = false;
};

// Waits for the tracee's next wait status and returns it. Fails if djtap is told to end, at the
// tracee's deadline (a loader may wait for something that never comes), or with TargetGone if a
// followed process has ended.
Result<int> next_status(const Tracee& tracee);

// Lets the tracee go on with `request` until something else than a signal happens, or the signal
// `until` comes; delivers other signals. A stop of job control does not stop it until djtap lets
// it go. Fails like next_status(), and with TargetGone if the tracee has ended.
Result<TraceeStop> run_tracee(Tracee& tracee, __ptrace_request request, int until = 0);

}  // namespace dj
