// A child is over when its pidfd is readable and what it said before has been read.
#include "runtime/control/child_watch.h"

#include <x86intrin.h>

#include <algorithm>

#include "runtime/control/journal.h"

namespace dj {

void ChildWatch::begins(pid_t pid) {
  if (children_.contains(pid)) return;  // each probe has it told
  Child child{std::nullopt, target_.forked(pid)};
  if (Result<ExitWatch> made = ExitWatch::create(pid, false); made.ok())
    child.watch.emplace(made.take());
  else if (start_time(pid))
    return;  // no file descriptor is left
  children_.emplace(pid, std::move(child));
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
