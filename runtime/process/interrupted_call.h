// SPDX-License-Identifier: Apache-2.0
// restart_interrupted() keeps a tracer's stop from showing in the result of a system call.
#pragma once
#include <sys/user.h>

namespace dj {

// Changes the registers of a thread that stands behind a call which fails with EINTR after any
// stop, even if no handler runs (epoll_wait and others, signal(7)): the call restarts unless a
// handler runs. False: the thread stands elsewhere, and the registers are as they were.
bool restart_interrupted(user_regs_struct& regs);

}  // namespace dj
