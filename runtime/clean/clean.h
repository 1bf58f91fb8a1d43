// SPDX-License-Identifier: Apache-2.0
// clean() puts back what a session has written into a process, from the session's journal alone.
// djtap uses it when another djtap was killed, and in the processes that the target has forked.
#pragma once
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/clean/found_journal.h"
#include "runtime/process/stopped.h"

namespace dj {

// Whether the text holds bytes that this session wrote, or the session has not ended in the
// process. The process may run. Fails if the look takes more than `effort`.
Result<bool> is_patched(pid_t pid, const FoundJournal& journal, const Effort& effort);

// Whether the session has ended, and nothing of it is in the text of `pid`, which may run.
Result<bool> is_done(pid_t pid, const FoundJournal& journal, const Effort& effort);

// Takes the session out of this process: sites, SIGTRAP, hooks, in that order. Leaves alone places
// where another program has written since. djtap may be killed at any moment and begin again; at
// the end is_done() holds. Returns how many places it restored.
Result<size_t> clean(Stopped& stopped, const FoundJournal& journal);

// Fails when another djtap, which runs, has its probes in `pid`, and names it. also: what else than
// to end that session the user can do.
Status check_unheld(pid_t pid, const std::string& also = "");

// Cleans `pid`, which runs, of all sessions that are not done; stops it for a moment if it must.
// Says on stderr where it restored text. Fails where another djtap, which runs, has its probes.
Status clean_abandoned(pid_t pid);

// Cleans all processes but `except` that share the session memory `inode`: forked children, and
// theirs. Unmaps what can go of that memory (leftovers.h). Adds one sentence to `failures` for each
// process that it cannot clean. Returns the processes that it cleaned.
std::vector<pid_t> clean_session_processes(uint64_t inode, pid_t except,
                                           std::vector<std::string>& failures);

// Cleans that process alone; unmaps nothing.
void clean_process(uint64_t inode, pid_t pid, std::vector<std::string>& failures);

// Sends threads that have hit an int3 of these sessions, and not got their SIGTRAP, back to it. All
// threads stand.
Status rewind_hits(Stopped& stopped, const std::set<uint64_t>& memories);

// Cleans a process that stands of the sessions whose memories these are, and unmaps what can go. It
// goes on standing. False: some of the memory stays, as a thread may come back to its code.
Result<bool> clean_standing(Stopped& stopped, const std::set<uint64_t>& memories);

// Runs `djtap clean PID`: cleans the process and, if with_forks, its session processes. Returns a
// text that says what it did.
Result<std::string> clean_command(pid_t pid, bool with_forks);

}  // namespace dj
