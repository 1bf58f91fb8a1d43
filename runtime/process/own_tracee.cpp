// SPDX-License-Identifier: Apache-2.0
// waitid() tells a stop of a tracee from one of job control.
#include "runtime/process/own_tracee.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <cstdint>

namespace dj {

void let_go_of_own_tracee(pid_t pid) {
  constexpr int kStops = WSTOPPED | WNOHANG | __WALL;
  siginfo_t stop = {};
  const auto process = static_cast<id_t>(pid);
  const bool looked = waitid(P_PID, process, &stop, kStops | WNOWAIT) == 0;
  if (!looked || stop.si_pid != pid || stop.si_code != CLD_TRAPPED) return;
  siginfo_t cause = {};
  if (ptrace(PTRACE_GETSIGINFO, pid, 0, &cause) != 0) return;
  waitid(P_PID, process, &stop, kStops);
  // The kernel's word that a traced process has executed a program; it would end that.
  const bool by_exec =
      cause.si_signo == SIGTRAP && cause.si_code == SI_USER && cause.si_pid == pid;
  const int signal = by_exec ? 0 : cause.si_signo;
  ptrace(PTRACE_DETACH, pid, 0, static_cast<uint64_t>(signal));
}

}  // namespace dj
