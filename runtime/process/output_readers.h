// SPDX-License-Identifier: Apache-2.0
// reads_output() tells who reads what djtap writes, by a pipe: `djtap ... | while read line`. djtap
// waits for such a process when the pipe is full, so the process must not wait for djtap.
#pragma once
#include <sys/types.h>

namespace dj {

// Whether the process has the end for reading of a pipe that is djtap's stdout or stderr; false
// also if djtap may not look at its descriptors.
bool reads_output(pid_t pid);

// The same of the pipe that `fd` of djtap writes to; false if it is none.
bool reads_pipe(pid_t pid, int fd);

}  // namespace dj
