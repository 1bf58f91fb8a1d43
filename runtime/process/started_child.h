// SPDX-License-Identifier: Apache-2.0
// StartedChild owns a process that djtap has started and traces until its program is loaded; its
// destructor kills and reaps the process.
#pragma once
#include <sys/ptrace.h>
#include <sys/types.h>

#include <utility>

#include "compiler/base/result.h"
#include "runtime/process/child_wait.h"

namespace dj {

// Kills and reaps the process in its destructor, unless release() or forget() was called.
class StartedChild {
 public:
  explicit StartedChild(pid_t pid) : pid_(pid) {}
  StartedChild(StartedChild&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}
  StartedChild& operator=(StartedChild&& other) noexcept {
    std::swap(pid_, other.pid_);
    return *this;
  }
  ~StartedChild() {
    if (pid_ != 0) kill_child(pid_);
  }
  pid_t pid() const { return pid_; }
  // Hands the process to the caller.
  pid_t release() { return std::exchange(pid_, 0); }
  void forget() { pid_ = 0; }  // the process has ended

 private:
  pid_t pid_;
};

// ChildStop says why run_child() returned: an event of PTRACE_EVENT_*, a system call stop, or a
// SIGTRAP.
struct ChildStop {
  int event = 0;
  bool at_syscall = false;
  bool at_trap = false;
};

// Waits for the child's next wait status and returns it. Fails if djtap is told to end, or after a
// minute: a loader may wait for something that never comes.
Result<int> next_status(const StartedChild& child);

// Lets the child go on with `request` until something else than a signal happens; delivers signals.
// Fails with TargetGone if the child has ended.
Result<ChildStop> run_child(StartedChild& child, __ptrace_request request);

}  // namespace dj
