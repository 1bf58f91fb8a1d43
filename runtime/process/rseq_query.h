// SPDX-License-Identifier: Apache-2.0
// Where the threads of a process have their rseq areas, without stopping it: glibc says so.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/process/process.h"

namespace dj {

// struct rseq minus fs base, the same in every thread, from glibc's __rseq_offset and __rseq_size
// (2.35 and later; in ld.so, or in a static program with symbols). Empty: there is no such glibc,
// or it has registered no area; the kernel must be asked (Stopped::rseq).
std::optional<int64_t> glibc_rseq_offset(pid_t pid, const std::vector<MappedModule>& modules);

}  // namespace dj
