// SPDX-License-Identifier: Apache-2.0
// Waiting for a child process: neither a child nor the kernel keeps djtap for ever.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace dj {

// Whether one of the signals waits at which djtap ends (it blocks them while it works).
bool is_told_to_end();

// Waits until the child `pid` ends, and takes its wait status. Nothing where djtap is told to end
// before: the child goes on, and stays a zombie of djtap's.
std::optional<int> wait_for_child(pid_t pid);

// Kills the child `pid` and takes its wait status, for `limit_ns` at most, told to end or not. The
// kernel does not end a child that waits in a driver, or one with a thread that is traced by a
// process that never asks (ptrace(2)). False: it has not ended; children_left() has it.
bool kill_child(pid_t pid, uint64_t limit_ns = 10'000'000'000);

// Those that kill_child() has left.
const std::vector<pid_t>& children_left();

}  // namespace dj
