// SPDX-License-Identifier: Apache-2.0
// Waits for a child that djtap has started itself.
#include "runtime/process/started_child.h"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <string>

#include "runtime/process/os_error.h"

namespace dj {

Result<int> next_status(const StartedChild& child) {
  constexpr uint64_t kSpinNs = 100'000, kLimitNs = 60'000'000'000;
  constexpr uint64_t kShare = 16'000, kLongestUs = 5'000;  // sleeps a 16th of what it has waited
  const uint64_t begin = now_ns();
  for (int status = 0;;) {
    const pid_t got = waitpid(child.pid(), &status, __WALL | WNOHANG);
    if (got > 0) return status;
    if (got < 0 && errno != EINTR) return os_error("cannot wait for the program");
    const uint64_t waited = now_ns() - begin;
    if (waited < kSpinNs) {
      sched_yield();  // mostly it stops again at once
      continue;
    }
    if (is_told_to_end())
      return Error{"told to end while the program was being loaded; it is killed"};
    if (waited > kLimitNs)
      return Error{
          "the program is not loaded after 60 s, and is killed; start it first and attach "
          "to it with -p"};
    usleep(static_cast<useconds_t>(std::min(kLongestUs, waited / kShare)));
  }
}

Result<ChildStop> run_child(StartedChild& child, __ptrace_request request) {
  for (int signal = 0;;) {
    if (ptrace(request, child.pid(), 0, static_cast<uint64_t>(signal)) != 0) {
      return os_error("cannot run the program");
    }
    DJ_TRY(const int status, next_status(child));
    if (!WIFSTOPPED(status)) {
      child.forget();
      std::string how = WIFEXITED(status) ? "exit status " + std::to_string(WEXITSTATUS(status))
                                          : "signal " + std::to_string(WTERMSIG(status));
      return Error{"the program ended while it was being loaded (" + how + ")", Fail::TargetGone};
    }
    int event = status >> 16;
    signal = WSTOPSIG(status);
    if (event != 0 && event != PTRACE_EVENT_STOP) {
      return ChildStop{.event = event};
    }
    if (event == PTRACE_EVENT_STOP) {
      signal = 0;  // job control is asked of it later; loading goes on
    } else if (signal == (SIGTRAP | 0x80)) {
      return ChildStop{.at_syscall = true};
    } else if (signal == SIGTRAP) {
      return ChildStop{.at_trap = true};
    }
  }
}

}  // namespace dj
