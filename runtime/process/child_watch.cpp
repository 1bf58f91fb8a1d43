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

// Of several, one whose parent it is.
pid_t ChildWatch::find_elsewhere(const TargetTask& joined, pid_t own) const {
  pid_t found = 0;
  for (const pid_t other : find_probed_processes()) {
    if (own_numbers(other).pid != own || is_watched(other)) continue;
    if (parent_of(other) == joined.pid()) return other;
    if (found == 0) found = other;
  }
  return found;
}

// djtap's number of the child; 0, or one that no process has: it has ended. To look through all
// processes takes long, and most children that are not found have ended.
pid_t ChildWatch::find(const TargetTask& joined, pid_t own) {
  const bool is_near = joined.is_known_by(joined.pid());  // in djtap's pid namespace
  const pid_t pid = is_near ? own : number_seen(own, joined.pid());
  const bool exists = pid > 0 && start_time(pid);
  if (exists ? is_session_process(pid, target_.pid()) : !has_spaces_ && is_near) return pid;
  const pid_t other = find_elsewhere(joined, own);
  if (other == 0) return pid;
  has_spaces_ = true;
  return other;
}

void ChildWatch::begins(const abi::ChildPayload& told) {
  const auto& [target, own] = number_of(told);
  if (children_.contains({target, own})) return;  // each probe has it told
  if (children_.size() >= kMost) return;
  const auto found = joined_.find(target);
  const TargetTask& joined = found != joined_.end() ? found->second : target_;
  const pid_t pid = find(joined, own);
  if (pid > 0 && start_time(pid) && !is_session_process(pid, target_.pid())) return;
  Child child{std::nullopt, joined.forked(own, pid)};
  if (pid > 0) {
    if (Result<ExitWatch> made = ExitWatch::create(pid, false); made.ok())
      child.watch.emplace(made.take());
    else if (start_time(pid))
      return;  // no file descriptor is left
  }
  children_.emplace(Number{target, own}, std::move(child));
}

// What its children are that end before djtap looks at them.
void ChildWatch::keep(const TargetTask& joined) {
  constexpr size_t kMostJoined = 1024;
  if (joined_.size() >= kMostJoined)
    std::erase_if(joined_, [](const auto& each) { return !start_time(each.first); });
  if (joined_.size() < kMostJoined) joined_.insert_or_assign(joined.pid(), joined);
}

std::optional<TargetTask> ChildWatch::joins(const TargetTask& task) {
  std::optional<TargetTask> before;
  std::erase_if(children_, [&](const auto& child) {
    if (child.second.task.pid() != task.pid()) return false;
    before = child.second.task;
    return true;
  });
  keep(task);
  Result<ExitWatch> made = ExitWatch::create(task.pid(), false);
  if (made.ok() && children_.size() < kMost)
    children_.emplace(Number{task.pid(), own_number(task.pid())}, Child{made.take(), task});
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
