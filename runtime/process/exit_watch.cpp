// SPDX-License-Identifier: Apache-2.0
// pidfd_open and waitpid.
#include "runtime/process/exit_watch.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "runtime/process/os_error.h"

namespace dj {

Result<ExitWatch> ExitWatch::create(pid_t pid, bool is_child) {
  ExitWatch watch;
  watch.pid_ = pid;
  watch.is_child_ = is_child;
  watch.fd_ = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (watch.fd_ < 0) {
    return os_error("cannot watch process " + std::to_string(pid));
  }
  return watch;
}

ExitWatch::ExitWatch(ExitWatch&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      pid_(other.pid_),
      is_child_(other.is_child_),
      status_(other.status_) {}

ExitWatch::~ExitWatch() {
  if (fd_ >= 0) {
    close(fd_);
  }
}

bool ExitWatch::ended(int timeout_ms) const {
  pollfd entry = {fd_, POLLIN, 0};
  return poll(&entry, 1, timeout_ms) == 1;
}

std::optional<int> ExitWatch::wait_status(int timeout_ms) {
  if (!is_child_ || status_.has_value()) {
    return status_;
  }
  pollfd entry = {fd_, POLLIN, 0};
  int status = 0;
  if (poll(&entry, 1, timeout_ms) == 1 && waitpid(pid_, &status, WNOHANG) == pid_) {
    status_ = status;
  }
  return status_;
}

}  // namespace dj
