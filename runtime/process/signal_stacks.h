// SPDX-License-Identifier: Apache-2.0
// Alternate signal stacks of a process's threads (sigaltstack(2)).
#pragma once
#include <cstdint>

#include "runtime/process/stopped.h"

namespace dj {

// Bytes that such a stack must have, so that a handler of the program may trap on it: a second
// signal frame lies there then.
uint64_t least_signal_stack(const Stopped& stopped);
// The smallest of a thread's below `least` bytes; 0: all are large enough. at: bytes of the
// target's memory that may be written (a stack_t); 0: a page is mapped for a moment.
Result<uint64_t> small_signal_stack(Stopped& stopped, uint64_t least, uint64_t at = 0);

}  // namespace dj
