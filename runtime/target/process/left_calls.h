// SPDX-License-Identifier: Apache-2.0
// count_left_calls() tells calls that a running program has left by exceptions or longjmp from
// those that it is in.
#pragma once
#include "runtime/output/kept_calls.h"
#include "runtime/process/stopped.h"

namespace dj {

// Counts calls as abandoned whose frames are gone, when the session ends and the target goes on. A
// frame is gone if it lies below the stack pointer of its thread, and the thread stands on its own
// stack; below another stack's pointer, as a coroutine's, there may be frames that live. It is
// gone, too, if its return address has been overwritten.
void count_left_calls(const Stopped& stopped, const KeptCalls& calls);

}  // namespace dj
