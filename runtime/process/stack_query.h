// SPDX-License-Identifier: Apache-2.0
// first_stack() and stack_block_offset() find where the threads of a process have their own stacks.
// They run none of its code.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "runtime/process/mapped_module.h"

namespace dj {

// Returns the lowest address above which only the first thread's stack lies, with room for a
// handler below it. UINT64_MAX: there is no such stack. maps: of the process.
uint64_t first_stack(pid_t pid, const Result<std::vector<Mapping>>& maps);

// Returns the offset (from fs base) of two words in glibc's control block of a thread: begin and
// bytes of the thread's stack, on which the block itself lies. For the first thread the begin is 0.
// Returns 0 if the offset is unknown.
int64_t stack_block_offset(pid_t pid, const std::vector<MappedModule>& modules);

}  // namespace dj
