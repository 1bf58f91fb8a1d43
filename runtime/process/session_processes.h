// SPDX-License-Identifier: Apache-2.0
// find_session_processes() and for_session_processes() find the session processes: all that share
// one session's memory, the target and what it has forked since.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/process/process.h"

namespace dj {

// kMemoryName is how the names of sessions' files begin; is_session_memory() recognises such a file
// in /proc/PID/maps.
constexpr char kMemoryName[] = "djtap";
bool is_session_memory(const Mapping& mapping);

// Whether a process has this file of a session mapped. False also if djtap may not read its maps.
bool has_memory(pid_t pid, uint64_t inode);
// The same, where the process would have it mapped at `address`.
bool has_memory_at(pid_t pid, uint64_t inode, uint64_t address);

// Returns the processes that have this file of a session mapped, if djtap may read their maps;
// without djtap itself and zombies.
std::vector<pid_t> find_session_processes(uint64_t inode);
// Returns the other processes that run in the very memory of `pid` (vfork(2), CLONE_VM without
// CLONE_THREAD). Of those of which the kernel does not tell that (no kcmp(2), no rights) it returns
// the ones that have mapped the session's file `inode`.
std::vector<pid_t> find_sharing_processes(pid_t pid, uint64_t inode);

// MemoryUsers holds, by the inode of a session's file, the processes that have it mapped.
using MemoryUsers = std::map<uint64_t, std::set<pid_t>>;
// Returns those of all sessions' files, each as find_session_processes() finds them.
MemoryUsers find_memory_users();

// Whether a process has a file of any session mapped. False also if djtap may not read its maps.
bool has_session_memory(pid_t pid);

// Returns the inodes of the files of all sessions that processes have mapped, if djtap may read
// their maps; without djtap's own mappings.
std::set<uint64_t> mapped_session_files();

// Returns the processes for which has_session_memory() is true, ascending; without those that run
// this djtap's own program, which map what they share with their targets.
std::vector<pid_t> find_probed_processes();

// Returns all processes that /proc shows, in any order.
std::vector<pid_t> all_processes();

pid_t parent_of(pid_t pid);  // 0: there is no such process
// Whether it is djtap's process, or djtap has started it or one above it.
bool descends_from_djtap(pid_t pid);
// The process of a thread; 0: there is no such thread, or it has ended.
pid_t process_of(pid_t tid);

// Whether a process and its parent have the same memory, not a copy of it: a vfork child, or one of
// CLONE_VM. Where the kernel does not compare memories (kcmp(2)), those of whose parent waits.
bool shares_parents_memory(pid_t pid);

// Whether `pid` descends from `target`, or has memory of a session of this djtap mapped. False
// where it has ended, or is no process.
bool is_session_process(pid_t pid, pid_t target);

// Calls `act` for each session process but `except`, and for those that appear meanwhile, until
// `act` returns true for none of the new ones, for a minute at most. Adds errors of `act` to
// `failures`; a process that ends is no failure. Returns the processes for which `act` was true.
std::vector<pid_t> for_session_processes(uint64_t inode, pid_t except,
                                         const std::function<Result<bool>(pid_t)>& act,
                                         std::vector<std::string>& failures);

}  // namespace dj
