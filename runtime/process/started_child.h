// SPDX-License-Identifier: Apache-2.0
// StartedChild owns a process that djtap has started and traces until its program is loaded; its
// destructor kills and reaps the process.
#pragma once
#include <sys/types.h>

#include <utility>

#include "runtime/process/child_wait.h"
#include "runtime/process/tracee.h"

namespace dj {

// Kills and reaps the process in its destructor, unless release() was called or the process has
// ended.
class StartedChild {
 public:
  explicit StartedChild(pid_t pid) : tracee_(Tracee::Kind::Started, pid, kLimitNs) {}
  StartedChild(StartedChild&& other) noexcept : tracee_(other.tracee_) { other.tracee_.pid = 0; }
  StartedChild& operator=(StartedChild&& other) noexcept {
    std::swap(tracee_, other.tracee_);
    return *this;
  }
  ~StartedChild() {
    if (pid() != 0) kill_child(pid());
  }
  Tracee& tracee() { return tracee_; }
  // 0: it was released, or has ended.
  pid_t pid() const { return tracee_.has_ended ? 0 : tracee_.pid; }
  // Hands the process to the caller.
  pid_t release() { return std::exchange(tracee_.pid, 0); }

 private:
  static constexpr uint64_t kLimitNs = 60'000'000'000;
  Tracee tracee_;
};

}  // namespace dj
