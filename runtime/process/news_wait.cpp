// SPDX-License-Identifier: Apache-2.0
// SIGCHLD tells of the stops of a traced thread as of those of a child (ptrace(2)).
#include "runtime/process/news_wait.h"

#include <unistd.h>

#include <csignal>
#include <ctime>

#include "runtime/process/tracer.h"

namespace dj {
namespace {

bool was_ignored = false;

}  // namespace

void wait_for_news(pid_t tid, uint64_t limit_ns) {
  constexpr uint64_t kSecond = 1'000'000'000;
  constexpr useconds_t kNapUs = 50;
  sigset_t blocked, child;
  sigprocmask(SIG_BLOCK, nullptr, &blocked);
  if (sigismember(&blocked, SIGCHLD) == 0 || is_traced_by_broker(tid)) {
    usleep(kNapUs);
    return;
  }
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  const timespec limit = {static_cast<time_t>(limit_ns / kSecond),
                          static_cast<long>(limit_ns % kSecond)};
  sigtimedwait(&child, nullptr, &limit);
}

void hear_of_children() {
  if (signal(SIGCHLD, SIG_DFL) == SIG_IGN) was_ignored = true;
}

void inherit_child_signal() {
  if (was_ignored) signal(SIGCHLD, SIG_IGN);
}

}  // namespace dj
