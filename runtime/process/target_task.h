// SPDX-License-Identifier: Apache-2.0
// TargetTask holds who the target is, for the handlers of process.begin and process.end, which
// djtap runs.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

namespace dj {

class TargetTask {
 public:
  // Asks the kernel now: of an ended process the kernel tells only the name and the ids, and
  // nothing once its parent has waited for it.
  explicit TargetTask(pid_t pid);
  // Returns the task of a process which this one has forked. Facts that the kernel does not tell
  // any more are those of this process. `own`: the number by which the child knows itself; pid:
  // djtap's number for it, 0 if it has ended.
  TargetTask forked(pid_t own, pid_t pid) const;
  // Takes over the last name and ids of the process, if the kernel still tells them. Call it when
  // the process has ended.
  void ended();
  // Returns the file of its program, as the kernel names it; empty: it is not told.
  const std::string& program() const;
  // Whether the process, or the one that has forked it, had mapped this file when the constructor
  // asked.
  bool had_mapped(const std::string& file) const;
  // Returns djtap's number of the process; 0 if it is a forked one that had ended.
  pid_t pid() const;
  // Whether the process knows itself by that number, or did when djtap last asked.
  bool is_known_by(pid_t number) const;
  // Returns the address for abi::Header::task; valid while this object lives.
  uint64_t address() const;

 private:
  struct Told;
  void point_to_texts();
  std::shared_ptr<Told> told_;
};

}  // namespace dj
