// SPDX-License-Identifier: Apache-2.0
// wait_for_child(), kill_child(): wait for the end of a child process, and return in time even if
// the child or the kernel does not let it end.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace dj {

// Whether a signal is pending at which djtap ends. djtap blocks those signals while it works.
bool is_told_to_end();

// Waits until the child `pid` ends, reaps it and returns its wait status. Empty: djtap was told to
// end before; the child goes on, and becomes djtap's zombie when it ends.
std::optional<int> wait_for_child(pid_t pid);

// Kills the child `pid` and reaps it. Waits for `limit_ns` nanoseconds at most, also if djtap is
// told to end. The kernel does not end a child that waits in a driver, or one with a thread that is
// traced by a process that never waits for it (ptrace(2)). False: the child has not ended;
// children_left() lists it.
bool kill_child(pid_t pid, uint64_t limit_ns = 10'000'000'000);

// Returns the children that kill_child() has left running.
const std::vector<pid_t>& children_left();

}  // namespace dj
