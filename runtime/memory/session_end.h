// SPDX-License-Identifier: Apache-2.0
// set_ended() and has_not_ended() write and read whether a session has ended in a process
// (ThreadTable::ended). The word is in the process's own memory: its forks inherit it, and the
// session ends in each for itself.
#pragma once
#include <sys/types.h>

#include <cstdint>

#include "compiler/base/result.h"
#include "runtime/process/stopped.h"

namespace dj {

// Marks the session as ended. Call it when all that the session has changed is as it was: hooked
// system calls that are under way then do nothing more for it. threads: address of the ThreadTable.
Status set_ended(const Stopped& stopped, uint64_t threads);
// Whether the process has the table of the session whose memory is `inode`, and the session has not
// ended there. The process may run.
bool has_not_ended(pid_t pid, uint64_t threads, uint64_t inode);

}  // namespace dj
