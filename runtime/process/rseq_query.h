// SPDX-License-Identifier: Apache-2.0
// Where the threads of a process have their rseq areas: the kernel says so of one that stands,
// glibc without stopping it.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/process/mapped_module.h"
#include "runtime/process/stopped.h"

namespace dj {

// struct rseq minus fs base, the same in every thread, from glibc's __rseq_offset and __rseq_size
// (2.35 and later; in ld.so, or in a static program with symbols). Empty: there is no such glibc,
// or it has registered no area; the kernel must be asked (Stopped::rseq).
std::optional<int64_t> glibc_rseq_offset(pid_t pid, const std::vector<MappedModule>& modules);

// Of a thread in a ptrace-stop. Empty: it has not registered one.
Result<std::optional<RseqArea>> rseq_of(pid_t tid, uint64_t fs_base);

}  // namespace dj
