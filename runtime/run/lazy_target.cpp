// SPDX-License-Identifier: Apache-2.0
// Finds the target once.
#include "runtime/run/lazy_target.h"

#include "compiler/resolve/target_index.h"

namespace dj {

LazyTarget::LazyTarget(const TargetChoices& choices, TargetUse use, const sigset_t& child_mask)
    : choices_(choices), use_(use), child_mask_(child_mask) {
  if (!choices.command.empty() && use != TargetUse::Unlikely)
    child_.emplace(fork_target(choices.command, child_mask));
}

Result<std::optional<TracedProcess>>& LazyTarget::find() {
  if (!found_) found_.emplace(find_target(choices_, use_, child_mask_, std::move(child_)));
  return *found_;
}

TargetIndex* LazyTarget::index() {
  if (!find().ok()) return nullptr;
  if (!index_) index_ = make_target_index(target_files(find().value()));
  return index_.get();
}

}  // namespace dj
