// SPDX-License-Identifier: Apache-2.0
// LazyTarget finds the target at the first request: by a Lua tapset, else behind the checks, so
// that mistakes in a script launch no program. Only the fork for a command comes before.
#pragma once
#include <memory>
#include <optional>

#include "compiler/stages/target_index.h"
#include "runtime/run/target.h"

namespace dj {

class LazyTarget {
 public:
  // Both references must outlive this object. child_mask: as find_target() takes it.
  LazyTarget(const TargetChoices& choices, TargetUse use, const sigset_t& child_mask);

  // Returns the target; the first call looks for it.
  Result<std::optional<TracedProcess>>& find();
  // Returns what the target's files say. Null: djtap could not find the target, and find() says
  // why.
  TargetIndex* index();
  // Whether djtap has looked for the target and could not find it.
  bool failed() const { return found_ && !found_->ok(); }

 private:
  const TargetChoices& choices_;
  TargetUse use_;
  const sigset_t& child_mask_;
  std::optional<Result<ForkedChild>> child_;
  std::optional<Result<std::optional<TracedProcess>>> found_;
  std::unique_ptr<TargetIndex> index_;
};

}  // namespace dj
