// SPDX-License-Identifier: Apache-2.0
// small_signal_stack() finds threads of a process whose alternate signal stack (sigaltstack(2)) is
// too small.
#pragma once
#include <cstdint>

#include "runtime/process/stopped.h"

namespace dj {

// Returns the bytes that such a stack must have for a handler of the program to trap on it: the
// stack then holds a second signal frame.
uint64_t least_signal_stack(const Stopped& stopped);
// Returns the size in bytes of the smallest stack below `least` bytes; 0: all are large enough. at:
// address of target memory for a stack_t, which the call writes; 0: it maps a page for a moment.
Result<uint64_t> small_signal_stack(Stopped& stopped, uint64_t least, uint64_t at = 0);

}  // namespace dj
