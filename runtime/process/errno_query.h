// SPDX-License-Identifier: Apache-2.0
// errno_offset() finds where the threads of a process have the C library's errno. It runs none of
// the process's code.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/process/mapped_module.h"

namespace dj {

// Returns the address of errno minus fs base, which is the same in every thread. It reads it from
// the machine code of the C library's __errno_location (of the program's own, in a program without
// a loader), which adds it to fs base. Call it when the loader has done its work. Empty: the
// process has no such function, or the function has another form. Source: the ABI's local-exec and
// initial-exec models (Drepper, "ELF Handling For Thread-Local Storage").
std::optional<int64_t> errno_offset(pid_t pid, const std::vector<MappedModule>& modules);

}  // namespace dj
