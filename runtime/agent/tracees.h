// SPDX-License-Identifier: Apache-2.0
// tracees.h serves processes that ask to be traced (PTRACE_TRACEME), as children of debuggers do
// before they execute a program. A SIGTRAP stops them for their tracer before any handler runs, so
// none of them may come to an int3.
#pragma once
#include <stdint.h>

namespace dj::agent {

constexpr int64_t kCallNotMade = 1;

// Makes PTRACE_TRACEME as far as it can be made now; returns the call's result, or kCallNotMade
// where the program's own call is to be made. A vfork child has its parent's text: its wish is
// noted, and fulfilled when it executes a program. Where djtap has started the target, it would be
// the tracer itself, and there is no other. Else djtap takes out what traps first (a second at
// most).
int64_t ask_for_trace();
// To be called before the process executes the program at `path` (0: not known by a path); traces
// it if its wish was held back, and the program is there.
void trace_before_exec(uint64_t path);
}  // namespace dj::agent
