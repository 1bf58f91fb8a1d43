// SPDX-License-Identifier: Apache-2.0
// A stop and an end wake djtap at once, also if they came before it waits.
#include "runtime/process/news_wait.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "runtime/process/os_error.h"

namespace dj {
namespace {

constexpr uint64_t kLimitNs = 20'000'000'000;

struct NewsWait : testing::Test {
  NewsWait() {
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &before);
  }
  ~NewsWait() override { sigprocmask(SIG_SETMASK, &before, nullptr); }
  sigset_t before;
};

// Nanoseconds until `pid` has changed its state.
uint64_t wait_for(pid_t pid) {
  const uint64_t begin = now_ns();
  int status = 0;
  while (waitpid(pid, &status, WNOHANG | WUNTRACED) == 0) wait_for_news(pid, kLimitNs);
  return now_ns() - begin;
}

TEST_F(NewsWait, EndsWithAStopAndWithAnEnd) {
  const pid_t pid = fork();
  if (pid == 0) {
    usleep(20'000);
    raise(SIGSTOP);
    _exit(0);
  }
  EXPECT_LT(wait_for(pid), kLimitNs);
  kill(pid, SIGCONT);
  EXPECT_LT(wait_for(pid), kLimitNs);
}

TEST_F(NewsWait, NewsOfBeforeCount) {
  const pid_t pid = fork();
  if (pid == 0) _exit(0);
  siginfo_t info = {};
  waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT);
  const uint64_t begin = now_ns();
  wait_for_news(pid, kLimitNs);
  EXPECT_LT(now_ns() - begin, kLimitNs);
  waitpid(pid, nullptr, 0);
}

TEST_F(NewsWait, DoesNotSleepLongWhereNoNewsAreKept) {
  sigprocmask(SIG_SETMASK, &before, nullptr);
  const uint64_t begin = now_ns();
  wait_for_news(getpid(), kLimitNs);
  EXPECT_LT(now_ns() - begin, kLimitNs);
}

}  // namespace
}  // namespace dj
