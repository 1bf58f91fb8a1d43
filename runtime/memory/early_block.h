// SPDX-License-Identifier: Apache-2.0
// give_early_block() gives the thread of a launched static program a control block until the
// program sets its own (ThreadTable::early_block). Handlers look there for what they find in the C
// library's block later.
#pragma once
#include <cstdint>

#include "compiler/base/result.h"
#include "runtime/process/stopped.h"

namespace dj {

// Makes the block and sets the thread's fs base to it. `threads`: address of the ThreadTable. The
// thread stands at the program's entry point.
Status give_early_block(const Stopped& stopped, uint64_t threads);
// Sets the fs base of a thread that still has the block to 0. `threads` 0: does nothing.
Status take_early_block(const Stopped& stopped, uint64_t threads);

}  // namespace dj
