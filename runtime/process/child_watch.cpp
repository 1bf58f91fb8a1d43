// SPDX-License-Identifier: Apache-2.0
// A child is over when its pidfd is readable and what it said before has been read.
#include "runtime/process/child_watch.h"

#include <x86intrin.h>

#include <algorithm>

#include "runtime/process/pid_space.h"
#include "runtime/process/process.h"
#include "runtime/process/session_processes.h"

namespace dj {

bool ChildWatch::is_watched(pid_t pid) const {
  return std::ranges::any_of(children_,
                             [pid](const auto& child) { return child.second.task.pid() == pid; });
}

// djtap's number of the child; 0, or one that no process has: it has ended. To look through all
// processes takes long, and most children that are not found have ended.
pid_t ChildWatch::find(pid_t own) {
  const pid_t pid = target_.is_known_by(target_.pid()) ? own : number_seen(own, target_.pid());
  const bool exists = pid > 0 && start_time(pid);
  if (exists ? is_session_process(pid, target_.pid()) : !has_spaces_) return pid;
  for (const pid_t other : find_probed_processes()) {
    if (own_numbers(other).pid != own || is_watched(other)) continue;
    has_spaces_ = true;
    return other;
  }
  return pid;
}

void ChildWatch::begins(pid_t own) {
  if (children_.contains(own)) return;  // each probe has it told
  if (children_.size() >= kMost) return;
  const pid_t pid = find(own);
  if (pid > 0 && start_time(pid) && !is_session_process(pid, target_.pid())) return;
  Child child{std::nullopt, target_.forked(own, pid)};
  if (pid > 0) {
    if (Result<ExitWatch> made = ExitWatch::create(pid, false); made.ok())
      child.watch.emplace(made.take());
    else if (start_time(pid))
      return;  // no file descriptor is left
  }
  children_.emplace(own, std::move(child));
}

std::optional<TargetTask> ChildWatch::joins(const TargetTask& task) {
  const pid_t own = own_numbers(task.pid()).pid;
  std::optional<TargetTask> before;
  if (const auto found = children_.find(own); found != children_.end()) {
    before = found->second.task;
    children_.erase(found);
  }
  Result<ExitWatch> made = ExitWatch::create(task.pid(), false);
  if (made.ok() && children_.size() < kMost) children_.emplace(own, Child{made.take(), task});
  return before;
}

std::vector<TargetTask> ChildWatch::take_ended(uint64_t heard) {
  std::vector<TargetTask> ended;
  for (auto& [pid, child] : children_) {
    if (child.gone != 0 || (child.watch && !child.watch->ended())) continue;
    child.task.ended();
    child.watch.reset();
    child.gone = __rdtsc();
  }
  std::erase_if(children_, [&](const auto& entry) {
    const Child& child = entry.second;
    if (child.gone == 0 || child.gone >= heard) return false;
    ended.push_back(child.task);
    return true;
  });
  return ended;
}

bool ChildWatch::is_due() const {
  return std::any_of(children_.begin(), children_.end(),
                     [](const auto& entry) { return entry.second.gone != 0; });
}

}  // namespace dj
