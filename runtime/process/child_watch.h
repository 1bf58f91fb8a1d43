// SPDX-License-Identifier: Apache-2.0
// ChildWatch watches the processes that the target has forked, and notices the end of those that do
// not report it. A process that is killed or executes another program never reports its end; its
// pidfd shows it.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "runtime/process/exit_watch.h"
#include "runtime/process/target_task.h"

namespace dj {

class ChildWatch {
 public:
  explicit ChildWatch(const TargetTask& target) : target_(target) {}
  // Take in what the handlers report (Drain). `own` is the number by which the child knows itself.
  // What the target reports may be a lie: ChildWatch watches only a process that descends from the
  // target or has the session's memory mapped. It watches kMost at one time at most.
  void begins(pid_t own);
  // Takes in a process that has joined the session, and which may have been watched before it
  // executed its program. Returns what that was.
  std::optional<TargetTask> joins(const TargetTask& task);
  void ends(pid_t own) { children_.erase(own); }
  // Returns the processes that have ended without a report, each once. heard: the time (cycle
  // counter) up to which the caller has passed all reports to ends().
  std::vector<TargetTask> take_ended(uint64_t heard);
  // Whether take_ended() has seen a process end that it has not returned yet.
  bool is_due() const;

 private:
  struct Child {
    std::optional<ExitWatch> watch;  // empty: the process ended before djtap looked, or its end was
                                     // seen
    TargetTask task;
    uint64_t gone = 0;  // cycle counter when djtap saw its end
  };
  static constexpr size_t kMost = 4096;
  pid_t find(pid_t own);
  bool is_watched(pid_t pid) const;

  TargetTask target_;
  bool has_spaces_ = false;  // whether a child was found in a pid namespace of its own
  std::map<pid_t, Child> children_;
};

}  // namespace dj
