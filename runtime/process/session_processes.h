// SPDX-License-Identifier: Apache-2.0
// Session processes: all processes that share one session's memory: the target and what it has
// forked since.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/process/process.h"

namespace dj {

// How the names of sessions' files begin, and what they look like in /proc/PID/maps.
constexpr char kMemoryName[] = "djtap";
bool is_session_memory(const Mapping& mapping);

// Whether a process has this file of a session mapped, as far as djtap may read its maps.
bool has_memory(pid_t pid, uint64_t inode);

// Processes of which djtap may read the maps and which have this file of a session mapped; neither
// djtap itself nor zombies.
std::vector<pid_t> find_session_processes(uint64_t inode);

pid_t parent_of(pid_t pid);  // 0: nobody is there

// Whether `pid` descends from `target`, or has memory of a session of this djtap mapped. False
// where it has ended, or is no process.
bool is_session_process(pid_t pid, pid_t target);

// Does `act` to each of them but `except`, and to those that appear meanwhile, until `act` was true
// of none of the new ones, a minute at most. A process that ends is no failure. Returns those of
// which `act` was true.
std::vector<pid_t> for_session_processes(uint64_t inode, pid_t except,
                                         const std::function<Result<bool>(pid_t)>& act,
                                         std::vector<std::string>& failures);

}  // namespace dj
