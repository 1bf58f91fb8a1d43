// SPDX-License-Identifier: Apache-2.0
// Waits for news of the tracee, and looks meanwhile whether djtap has waited long enough.
#include "runtime/process/tracee.h"

#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <string>

#include "runtime/process/child_wait.h"
#include "runtime/process/news_wait.h"
#include "runtime/process/os_error.h"
#include "runtime/process/thread_wait.h"

namespace dj {
namespace {

bool is_started(const Tracee& tracee) { return tracee.kind == Tracee::Kind::Started; }

pid_t look(const Tracee& tracee, int* status) {
  return is_started(tracee) ? waitpid(tracee.pid, status, __WALL | WNOHANG)
                            : wait_thread(tracee.pid, tracee.pid, status);
}

Error told_to_end(const Tracee& tracee) {
  return Error{is_started(tracee) ? "told to end while the program was being loaded; it is killed"
                                  : "told to end while the program was being loaded; it goes on"};
}

Error too_late(const Tracee& tracee) {
  const std::string seconds = std::to_string(tracee.limit_ns / 1'000'000'000);
  return is_started(tracee) ? Error{"the program is not loaded after " + seconds +
                                    " s, and is killed; start it first and attach to it with -p"}
                            : Error{"the program is not loaded after " + seconds +
                                    " s; it goes on without probes"};
}

}  // namespace

Tracee::Tracee(Kind its_kind, pid_t its_pid, uint64_t its_limit_ns)
    : kind(its_kind), pid(its_pid), limit_ns(its_limit_ns), deadline_ns(now_ns() + its_limit_ns) {}

Result<int> next_status(const Tracee& tracee) {
  for (int status = 0;;) {
    const pid_t got = look(tracee, &status);
    if (got > 0) return status;
    if (got < 0 && errno == ECHILD && !is_started(tracee))
      return Error{"the program ended while it was being loaded", Fail::TargetGone};
    if (got < 0 && errno != EINTR) return os_error("cannot wait for the program");
    if (is_told_to_end()) return told_to_end(tracee);
    if (now_ns() > tracee.deadline_ns) return too_late(tracee);
    wait_for_news(tracee.pid);
  }
}

Result<TraceeStop> run_tracee(Tracee& tracee, __ptrace_request request, int until) {
  for (;;) {
    if (ptrace(request, tracee.pid, 0, static_cast<uint64_t>(tracee.signal)) != 0) {
      return os_error("cannot run the program");
    }
    tracee.stands = false;
    tracee.signal = 0;
    const Result<int> next = next_status(tracee);
    tracee.has_ended =
        next.ok() ? !WIFSTOPPED(next.value()) : next.error().kind == Fail::TargetGone;
    if (!next.ok()) return next.error();
    const int status = next.value();
    if (tracee.has_ended) {
      std::string how = WIFEXITED(status) ? "exit status " + std::to_string(WEXITSTATUS(status))
                                          : "signal " + std::to_string(WTERMSIG(status));
      return Error{"the program ended while it was being loaded (" + how + ")", Fail::TargetGone};
    }
    tracee.stands = true;
    const int event = status >> 16, signal = WSTOPSIG(status);
    if (event != 0 && event != PTRACE_EVENT_STOP) return TraceeStop{.event = event};
    if (event == PTRACE_EVENT_STOP) continue;  // job control is asked of it later
    if (signal == (SIGTRAP | 0x80)) return TraceeStop{.at_syscall = true};
    tracee.signal = signal;
    if (signal == until) return TraceeStop{};
  }
}

}  // namespace dj
