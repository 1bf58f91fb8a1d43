// SPDX-License-Identifier: Apache-2.0
// Putting back what a session has written into a process, from the session's journal alone: when
// djtap was killed, and in the processes that the target has forked.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/clean/found_journal.h"
#include "runtime/process/stopped.h"

namespace dj {

// Does the text hold bytes that this session wrote, or has it not ended in the process? That may
// run. Fails where to look takes more than `effort`.
Result<bool> is_patched(pid_t pid, const FoundJournal& journal, const Effort& effort);

// The session has ended, and nothing of it is in the text of `pid`, which may run.
Result<bool> is_done(pid_t pid, const FoundJournal& journal, const Effort& effort);

// Takes the session out of this process: sites, SIGTRAP, hooks, in that order. Places where others
// have written since are left alone. May be killed at any moment and begun again; at the end
// is_done() holds. Returns how many places were restored.
Result<size_t> clean(Stopped& stopped, const FoundJournal& journal);

// Fails when a djtap that runs has its probes in `pid`, and names it.
Status check_unheld(pid_t pid);

// Cleans `pid`, which runs and stands for a moment if it must, of all sessions that are not done;
// says on stderr where text was restored. Fails where a djtap that runs has its probes there.
Status clean_abandoned(pid_t pid);

// Cleans all processes but `except` that share the session memory `inode`: forked children, and
// theirs. What can go of that memory goes (leftovers.h). What cannot be cleaned is in `failures`,
// one sentence each. Returns those that were cleaned.
std::vector<pid_t> clean_session_processes(uint64_t inode, pid_t except,
                                           std::vector<std::string>& failures);

// The same of that process alone.
void clean_process(uint64_t inode, pid_t pid, std::vector<std::string>& failures);

// `djtap clean PID`: the process and its session processes. Returns what was done, as text.
Result<std::string> clean_command(pid_t pid);

}  // namespace dj
