// SPDX-License-Identifier: Apache-2.0
// rseq_of() and glibc_rseq_offset() find where the threads of a process have their rseq areas. The
// kernel tells it of a stopped thread; glibc tells it without a stop.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/process/mapped_module.h"
#include "runtime/process/stopped.h"

namespace dj {

// Returns the address of struct rseq minus fs base, which is the same in every thread, from glibc's
// __rseq_offset and __rseq_size (2.35 and later; in ld.so, or in a static program with symbols).
// Empty: the process has no such glibc, or glibc has registered no area; then ask the kernel
// (Stopped::rseq).
std::optional<int64_t> glibc_rseq_offset(pid_t pid, const std::vector<MappedModule>& modules);

// Returns the area of a thread in a ptrace-stop. Empty: the thread has not registered one.
Result<std::optional<RseqArea>> rseq_of(pid_t tid, uint64_t fs_base);

}  // namespace dj
