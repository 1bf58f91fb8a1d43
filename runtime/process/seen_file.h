// SPDX-License-Identifier: Apache-2.0
// open_seen() opens the file that a path means to a traced thread, which may have another root
// folder, other mounts and another working folder than djtap.
#pragma once
#include <fcntl.h>
#include <sys/types.h>

#include <string>

namespace dj {

// Returns a descriptor that closes on exec; -1: errno says why. `folder` is the thread's own
// descriptor from which a relative path starts, as execveat() takes it; with an empty path it is
// the file itself. Call it with O_PATH, or for what is known to be a regular file. In paths into
// /proc, "self" is the thread.
int open_seen(pid_t tid, const std::string& path, int flags, int folder = AT_FDCWD);

}  // namespace dj
