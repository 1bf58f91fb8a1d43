// SPDX-License-Identifier: Apache-2.0
// Where the threads of a process have their own stacks, without running any of its code.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "runtime/process/mapped_module.h"

namespace dj {

// The lowest address from which on upwards there is only the first thread's stack, with room for a
// handler below. UINT64_MAX: there is no such stack.
uint64_t first_stack(pid_t pid);

// Where glibc's control block of a thread (minus fs base) has two words, begin and bytes of the
// thread's stack, on which the block lies itself; of the first thread the begin is 0. 0: not known.
int64_t stack_block_offset(pid_t pid, const std::vector<MappedModule>& modules);

}  // namespace dj
