// SPDX-License-Identifier: Apache-2.0
// A program that djtap has started and that asks to be traced (PTRACE_TRACEME) has djtap for its
// tracer: it stops at each signal, and where it executes a program, until djtap lets it go.
#pragma once
#include <sys/types.h>

namespace dj {

// Lets go of `pid`, a child of djtap's, if it stands so: its signal reaches it, and it is not traced
// from then on. Call it where no other code of djtap's traces the process. Never waits.
void let_go_of_own_tracee(pid_t pid);

}  // namespace dj
