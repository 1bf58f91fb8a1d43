// SPDX-License-Identifier: Apache-2.0
// Calls that a running program has left by exceptions or longjmp, told from those that it is in.
#pragma once
#include "runtime/output/kept_calls.h"
#include "runtime/process/stopped.h"

namespace dj {

// Counts calls as abandoned whose frames are gone, when the session ends and the target goes on:
// those below the stack pointer of their thread, if it stands on its own stack (below another one,
// as a coroutine's, there may be frames that live), and those whose return address has been
// overwritten.
void count_left_calls(const Stopped& stopped, const KeptCalls& calls);

}  // namespace dj
