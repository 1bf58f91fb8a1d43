// SPDX-License-Identifier: Apache-2.0
// Waiting for threads that this thread of djtap traces. All of it returns at once.
#pragma once
#include <sys/types.h>

namespace dj {

// As waitpid() with WNOHANG does: `tid` and its wait status in *status, 0 where nothing has
// happened, -1 and errno; ECHILD: it has ended. But a child of djtap that has ended keeps its
// status, for exit_watch.h: it may end between two looks, so of a first thread nothing but a stop
// is taken. pid: the thread's process.
pid_t wait_thread(pid_t tid, pid_t pid, int* status);

// Would wait_thread() tell of a stop or an end?
bool has_news(pid_t tid);

// Has the thread nothing to wait for but a processor, on a machine that has too much else to do?
bool is_starved(pid_t pid, pid_t tid);

}  // namespace dj
