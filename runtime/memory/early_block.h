// SPDX-License-Identifier: Apache-2.0
// The control block of a launched static program's thread until the program sets its own
// (ThreadTable::early_block): handlers look there for what they find in the C library's later.
#pragma once
#include <cstdint>

#include "compiler/base/result.h"
#include "runtime/process/stopped.h"

namespace dj {

// `threads`: address of the ThreadTable. The thread stands at the program's entry point.
Status give_early_block(const Stopped& stopped, uint64_t threads);
// Takes it from a thread that has it yet.
Status take_early_block(const Stopped& stopped, uint64_t threads);

}  // namespace dj
