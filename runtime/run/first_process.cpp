// SPDX-License-Identifier: Apache-2.0
// All signals stay blocked in process 1, which takes them one by one (sigwaitinfo(2)).
#include "runtime/run/first_process.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dj {
namespace {

// Reaps what has ended. Whether the child has; then *exit_code is what it means for process 1.
bool reap_until(int child, int* exit_code) {
  int status = 0;
  for (int ended; (ended = waitpid(-1, &status, WNOHANG)) > 0;) {
    if (ended != child) continue;
    constexpr int kBySignal = 128;
    *exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : kBySignal + WTERMSIG(status);
    return true;
  }
  return false;
}

[[noreturn]] void serve(int child, const sigset_t& signals) {
  int exit_code = 0;
  while (!reap_until(child, &exit_code)) {
    siginfo_t info = {};
    const int signal = sigwaitinfo(&signals, &info);
    const bool is_sent = signal > 0 && signal != SIGCHLD && info.si_code <= 0;
    if (is_sent) kill(child, signal);
  }
  _exit(exit_code);
}

}  // namespace

void leave_first_process() {
  if (getpid() != 1) return;
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before);
  struct sigaction own = {}, children = {};
  own.sa_handler = SIG_DFL;  // where it is ignored, nothing tells how the child has ended
  sigaction(SIGCHLD, &own, &children);
  const int child = fork();
  if (child > 0) serve(child, all);
  sigaction(SIGCHLD, &children, nullptr);
  sigprocmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace dj
