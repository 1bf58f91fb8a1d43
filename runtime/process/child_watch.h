// SPDX-License-Identifier: Apache-2.0
// ChildWatch watches the processes that those of the session have forked, and notices the end of
// those that do not report it. A process that is killed or executes another program never reports
// its end; its pidfd shows it.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/process/exit_watch.h"
#include "runtime/process/target_task.h"
#include "runtime/shared/event.h"

namespace dj {

class ChildWatch {
 public:
  explicit ChildWatch(const TargetTask& target) : target_(target) {}
  // Take in what the handlers report (Drain). What the target reports may be a lie: ChildWatch
  // watches only a process that descends from the target or has the session's memory mapped. It
  // watches kMost at one time at most.
  void begins(const abi::ChildPayload& child);
  void ends(const abi::ChildPayload& child) { children_.erase(number_of(child)); }
  // Takes in a process that has joined the session, and which may have been watched before it
  // executed its program. Returns what that was.
  std::optional<TargetTask> joins(const TargetTask& task);
  // Returns the processes that have ended without a report, each once. heard: the time (cycle
  // counter) up to which the caller has passed all reports to ends().
  std::vector<TargetTask> take_ended(uint64_t heard);
  // Whether take_ended() has seen a process end that it has not returned yet.
  bool is_due() const;

 private:
  // Number: two pid namespaces have the same numbers for their processes. So each is known by the
  // process that has joined the session and whose fork it is, by djtap's number, and by its own.
  using Number = std::pair<pid_t, pid_t>;
  struct Child {
    std::optional<ExitWatch> watch;  // empty: the process ended before djtap looked, or its end was
                                     // seen
    TargetTask task;
    uint64_t gone = 0;  // cycle counter when djtap saw its end
  };
  static constexpr size_t kMost = 4096;
  static Number number_of(const abi::ChildPayload& child) {
    return {static_cast<pid_t>(child.target), static_cast<pid_t>(child.pid)};
  }
  pid_t find(const TargetTask& joined, pid_t own);
  pid_t find_elsewhere(const TargetTask& joined, pid_t own) const;
  bool is_watched(pid_t pid) const;
  void keep(const TargetTask& joined);

  TargetTask target_;
  bool has_spaces_ = false;             // whether a child was found in a pid namespace of its own
  std::map<pid_t, TargetTask> joined_;  // those that are known
  std::map<Number, Child> children_;
};

}  // namespace dj
