// SPDX-License-Identifier: Apache-2.0
// Whether a session has ended in a process, as the process itself says (ThreadTable::ended): its
// forks inherit that, and each ends for itself.
#pragma once
#include <sys/types.h>

#include <cstdint>

#include "compiler/base/result.h"
#include "runtime/process/stopped.h"

namespace dj {

// threads: address of the ThreadTable. When all that the session has changed is as it was: hooked
// system calls that are under way do nothing more for it.
Status set_ended(const Stopped& stopped, uint64_t threads);
// The process, which may run, has the table of the session whose memory is `inode`, and the session
// has not ended there.
bool has_not_ended(pid_t pid, uint64_t threads, uint64_t inode);

}  // namespace dj
