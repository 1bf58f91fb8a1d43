// SPDX-License-Identifier: Apache-2.0
// LazyTarget finds the target at the first request: by a Lua tapset, else behind the checks, so
// that mistakes in a script launch no program and read no kernel. Only the fork for a command comes
// before.
#pragma once
#include <memory>
#include <optional>

#include "compiler/stages/target_index.h"
#include "runtime/run/running_programs.h"
#include "runtime/run/target.h"

namespace dj {

class LazyTarget {
 public:
  // Both references must outlive this object. child_mask: as find_target() takes it.
  LazyTarget(const TargetChoices& choices, TargetUse use, const sigset_t& child_mask);

  // Returns the target; the first call looks for the process that the command line names.
  Result<FoundTarget>& find();
  // Returns the processes that have these files (find_everywhere()). Call it where the
  // command line names no process.
  Result<FoundTarget>& find_all_of(const FilesEverywhere& files, std::optional<double> seconds);
  // Returns what is meant. That is the running kernel where MeantTarget says so; a command then
  // waits beside it. Fails where the command line names a running process, or a Lua tapset has
  // asked for the command's files.
  Result<FoundTarget>& find(const MeantTarget& meant);
  // Returns what the target's files say. Null: djtap could not find the target, and find() says
  // why.
  TargetIndex* index();
  // Whether djtap has looked for the target and could not find it.
  bool failed() const { return found_ && !found_->ok(); }
  // Says why find() has failed. Returns djtap's exit code.
  int failure() const;

 private:
  const TargetChoices& choices_;
  TargetUse use_;
  const sigset_t& child_mask_;
  std::optional<Result<ForkedChild>> child_;
  std::optional<Result<FoundTarget>> found_;
  bool is_kernel_ = false;
  std::unique_ptr<TargetIndex> index_;
};

}  // namespace dj
