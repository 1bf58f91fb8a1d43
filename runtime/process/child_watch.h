// SPDX-License-Identifier: Apache-2.0
// ChildWatch: the processes that the target has forked and that have not said that they end. One
// that is killed, or executes another program, never does; its pidfd tells.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <vector>

#include "runtime/process/exit_watch.h"
#include "runtime/process/target_task.h"

namespace dj {

class ChildWatch {
 public:
  explicit ChildWatch(const TargetTask& target) : target_(target) {}
  // What its handlers say (Drain), by the numbers that the children know themselves by. Only a
  // process that descends from the target, or has the session's memory mapped, is watched: what the
  // target says may be a lie. More than kMost at one time are not watched.
  void begins(pid_t own);
  void ends(pid_t own) { children_.erase(own); }
  // Those that have ended without a word, each once. heard: up to when (cycle counter) all that was
  // said has been told to ends().
  std::vector<TargetTask> take_ended(uint64_t heard);
  // Has somebody ended whom take_ended() has not given yet?
  bool is_due() const;

 private:
  struct Child {
    std::optional<ExitWatch> watch;  // empty: gone before djtap looked
    TargetTask task;
    uint64_t gone = 0;  // cycle counter when that was seen
  };
  static constexpr size_t kMost = 4096;
  TargetTask target_;
  std::map<pid_t, Child> children_;
};

}  // namespace dj
