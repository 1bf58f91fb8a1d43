// SPDX-License-Identifier: Apache-2.0
// TargetTask: who the target is, for the handlers of process.begin and process.end, which djtap
// runs.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <memory>

namespace dj {

class TargetTask {
 public:
  // Asks the kernel now: what of a process is still told when it has ended is its name and its ids,
  // and nothing when somebody has waited for it.
  explicit TargetTask(pid_t pid);
  // That of a process which this one has forked: what cannot be asked any more is as it is here.
  // `own`: the number that it knows itself by; pid: as djtap sees it, 0 if it is gone.
  TargetTask forked(pid_t own, pid_t pid) const;
  // When the process has ended: its last name and ids, if they can still be had.
  void ended();
  pid_t pid() const;
  // Whether it knows itself by that number, or did when it was last asked.
  bool is_known_by(pid_t number) const;
  // For abi::Header::task; valid while this object lives.
  uint64_t address() const;

 private:
  struct Told;
  void point_to_texts();
  std::shared_ptr<Told> told_;
};

}  // namespace dj
