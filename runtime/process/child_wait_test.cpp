// SPDX-License-Identifier: Apache-2.0
// Children that end, that do not, and one that the kernel cannot end.
#include "runtime/process/child_wait.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

namespace dj {
namespace {

pid_t start(void (*run)(void*), void* words = nullptr) {
  const pid_t pid = fork();
  if (pid == 0) {
    run(words);
    _exit(0);
  }
  return pid;
}

void sleep_for_ever(void*) {
  for (;;) pause();
}

TEST(ChildWait, GivesTheStatus) {
  const pid_t child = start([](void*) { _exit(7); });
  const std::optional<int> status = wait_for_child(child);
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(WEXITSTATUS(*status), 7);
}

TEST(ChildWait, EndsWhereDjtapIsToldTo) {
  sigset_t term, before;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &term, &before);
  const pid_t child = start(sleep_for_ever);
  raise(SIGTERM);
  EXPECT_FALSE(wait_for_child(child).has_value());
  int signal = 0;
  sigwait(&term, &signal);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_TRUE(kill_child(child));
  EXPECT_EQ(kill(child, 0), -1);
  EXPECT_TRUE(children_left().empty());
}

// A process with a second thread, `tid`, that another process traces and never asks about.
struct Unasked {
  volatile pid_t tid;
  volatile bool traced;
};

TEST(ChildWait, LeavesOneThatTheKernelCannotEnd) {
  void* shared = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto* words = static_cast<Unasked*>(shared);
  const pid_t child = start(
      [](void* at) {
        std::thread second([at] {
          static_cast<Unasked*>(at)->tid = static_cast<pid_t>(syscall(SYS_gettid));
          sleep_for_ever(nullptr);
        });
        sleep_for_ever(nullptr);
      },
      words);
  while (words->tid == 0) usleep(1000);
  const pid_t tracer = start(
      [](void* at) {
        auto* unasked = static_cast<Unasked*>(at);
        if (ptrace(PTRACE_SEIZE, unasked->tid, 0, 0) == 0) unasked->traced = true;
        sleep_for_ever(nullptr);
      },
      words);
  for (int i = 0; i < 1000 && !words->traced; ++i) usleep(1000);
  if (!words->traced) {
    EXPECT_TRUE(kill_child(tracer) && kill_child(child));
    GTEST_SKIP() << "one process may not trace another that it has not started (yama)";
  }
  EXPECT_FALSE(kill_child(child, 100'000'000));
  EXPECT_EQ(children_left(), std::vector{child});
  EXPECT_TRUE(kill_child(tracer));
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  munmap(shared, 4096);
}

}  // namespace
}  // namespace dj
