// SPDX-License-Identifier: Apache-2.0
// ExitWatch notices the end of the traced process without ptrace, by a pidfd.
#pragma once
#include <sys/types.h>

#include <optional>

#include "compiler/base/result.h"

namespace dj {

class ExitWatch {
 public:
  // is_child: djtap started the process and gets its wait status. Fails when there is no such
  // process.
  static Result<ExitWatch> create(pid_t pid, bool is_child);
  ExitWatch(ExitWatch&& other) noexcept;
  ~ExitWatch();
  pid_t pid() const { return pid_; }
  int fd() const { return fd_; }  // readable (poll) when the process has ended
  bool ended(int timeout_ms = 0) const;  // waits for the end up to timeout_ms
  // Returns the wait status of an ended child; empty: the process still runs, or is no child of
  // djtap. Waits up to timeout_ms (-1: for ever).
  std::optional<int> wait_status(int timeout_ms);

 private:
  ExitWatch() = default;
  int fd_ = -1;
  pid_t pid_ = 0;
  bool is_child_ = false;
  std::optional<int> status_;
};

}  // namespace dj
