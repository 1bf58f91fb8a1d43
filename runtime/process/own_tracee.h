// SPDX-License-Identifier: Apache-2.0
// let_go_of_own_tracee() releases a program that djtap has started and that has asked to be traced
// (PTRACE_TRACEME). djtap is the tracer of such a program: it stops at each signal, and where it
// executes a program, until djtap lets it go.
#pragma once
#include <sys/types.h>

namespace dj {

// Detaches from `pid`, a child of djtap, if it stands in such a stop, and delivers its signal. Call
// it while no other code of djtap traces the process. Never waits.
void let_go_of_own_tracee(pid_t pid);

}  // namespace dj
