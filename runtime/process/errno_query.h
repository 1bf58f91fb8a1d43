// SPDX-License-Identifier: Apache-2.0
// Where the threads of a process have the C library's errno, without running any of its code.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/process/mapped_module.h"

namespace dj {

// errno minus fs base, the same in every thread: what __errno_location of the C library (of a
// program without a loader: its own) adds to fs base, by its machine code. The loader has done its
// work. Empty: there is no such function, or it is written in another way.
// Source: the ABI's local-exec and initial-exec models (Drepper, "ELF Handling For Thread-Local
// Storage").
std::optional<int64_t> errno_offset(pid_t pid, const std::vector<MappedModule>& modules);

}  // namespace dj
