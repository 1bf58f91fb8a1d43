// SPDX-License-Identifier: Apache-2.0
// Unfollowed processes: those of the target's that no probe reaches. Some the target had started
// before the session; others execute another program.
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

namespace dj {

// Processes that `target` has started, and theirs, and so on, ascending. The list has no
// zombies. It has neither djtap, nor what djtap has started, nor whoever has started djtap.
std::vector<pid_t> descendants(pid_t target);

// A warning, if processes that `target` has started do not have the memory of the session with this
// inode: they are older than it. To be called when the probes are armed.
void warn_of_earlier(pid_t target, uint64_t inode);

// "1 (a), 2 (b)" of processes as they are now, the first ones. Empty where none is alive.
struct NamedProcesses {
  size_t count = 0;  // of those that live
  std::string names;
};
NamedProcesses name_living(const std::vector<pid_t>& pids);

}  // namespace dj
