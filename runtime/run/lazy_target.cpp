// SPDX-License-Identifier: Apache-2.0
// Finds the target once.
#include "runtime/run/lazy_target.h"

#include "compiler/resolve/target_index.h"
#include "runtime/run/running_programs.h"
#include "runtime/run/show.h"

namespace dj {

LazyTarget::LazyTarget(const TargetChoices& choices, TargetUse use, const sigset_t& child_mask)
    : choices_(choices), use_(use), child_mask_(child_mask) {
  if (!choices.command.empty() && use != TargetUse::Unlikely)
    child_.emplace(fork_target(choices.command, child_mask));
}

Result<FoundTarget>& LazyTarget::find() {
  if (!found_) found_.emplace(find_target(choices_, use_, child_mask_, std::move(child_)));
  return *found_;
}

Result<FoundTarget>& LazyTarget::find(const MeantTarget& meant) {
  if (!meant.is_kernel()) return find();
  if (is_kernel_ || failed()) return *found_;
  is_kernel_ = true;
  if (!choices_.pids.empty()) {
    found_.emplace(
        Error{"the script probes the kernel, and -p names a process to probe: leave -p out",
              Fail::Unsupported});
  } else if (found_ && found_->value().process) {
    found_.emplace(
        Error{"the script probes the kernel, and a Lua tapset of it asks for the files of "
              "the command: run two sessions",
              Fail::Unsupported});
  } else {
    found_.emplace(find_kernel_target(meant, std::move(child_)));
  }
  return *found_;
}

Result<FoundTarget>& LazyTarget::find_all_of(const FilesEverywhere& files,
                                             std::optional<double> seconds) {
  found_.emplace(find_everywhere(files, choices_, seconds));
  return *found_;
}

int LazyTarget::failure() const {
  return is_kernel_ ? fail_attach(found_->error()) : target_failure(choices_, found_->error());
}

TargetIndex* LazyTarget::index() {
  if (!find().ok()) return nullptr;
  if (!index_) index_ = make_target_index(target_files(find().value()));
  return index_.get();
}

}  // namespace dj
