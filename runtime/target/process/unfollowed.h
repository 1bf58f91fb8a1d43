// SPDX-License-Identifier: Apache-2.0
// warn_of_earlier() warns of unfollowed processes: those of the target's that no probe reaches.
// Some the target had started before the session; others execute another program.
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

namespace dj {

// Returns the processes that `target` has started, those that these have started, and so on,
// ascending. It leaves out zombies, djtap, the processes that djtap has started, and djtap's
// ancestors.
std::vector<pid_t> descendants(pid_t target);

// Warns if processes that `target` has started have no memory of a session: they are older than it,
// and could not join it. Call it when the probes are armed.
void warn_of_earlier(pid_t target);

// LivingProcesses: "1 (a), 2 (b)", the first eight of these processes that live now. Empty where
// none is alive.
struct LivingProcesses {
  size_t count = 0;  // of those that live
  std::string names;
};
LivingProcesses name_living(const std::vector<pid_t>& pids);

}  // namespace dj
