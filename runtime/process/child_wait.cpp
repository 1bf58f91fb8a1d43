// SPDX-License-Identifier: Apache-2.0
// Asks the kernel again and again: a wait with a limit there is none.
#include "runtime/process/child_wait.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "runtime/process/os_error.h"

namespace dj {
namespace {

std::vector<pid_t> left;

// Sleeps a 16th of what has been waited.
void sleep_a_little(uint64_t waited_ns) {
  constexpr uint64_t kShare = 16'000, kShortestUs = 20, kLongestUs = 5'000;
  usleep(static_cast<useconds_t>(std::clamp(waited_ns / kShare, kShortestUs, kLongestUs)));
}

// A child that was waited for already has ended.
bool has_ended(pid_t pid, int* status) {
  const pid_t got = waitpid(pid, status, __WALL | WNOHANG);
  if (got < 0) return errno != EINTR;
  return got == pid && !WIFSTOPPED(*status);
}

}  // namespace

bool is_told_to_end() {
  sigset_t waiting;
  sigpending(&waiting);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    if (sigismember(&waiting, signal) == 1) return true;
  }
  return false;
}

std::optional<int> wait_for_child(pid_t pid) {
  int status = 0;
  for (const uint64_t begin = now_ns(); !has_ended(pid, &status);) {
    if (is_told_to_end()) return std::nullopt;
    sleep_a_little(now_ns() - begin);
  }
  return status;
}

bool kill_child(pid_t pid, uint64_t limit_ns) {
  kill(pid, SIGKILL);
  int status = 0;
  for (const uint64_t begin = now_ns(); !has_ended(pid, &status);) {
    const uint64_t waited = now_ns() - begin;
    if (waited > limit_ns) {
      left.push_back(pid);
      return false;
    }
    sleep_a_little(waited);
  }
  return true;
}

const std::vector<pid_t>& children_left() { return left; }

}  // namespace dj
