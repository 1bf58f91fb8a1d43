// SPDX-License-Identifier: Apache-2.0
// wait_thread() and has_news() tell of threads that this thread of djtap traces. All functions here
// return at once.
#pragma once
#include <sys/types.h>

namespace dj {

// Works like waitpid() with WNOHANG: returns `tid` and sets *status to its wait status; 0: nothing
// has happened; -1: errno says why (ECHILD: the thread has ended). One thing differs: an ended
// child of djtap keeps its status, for exit_watch.h. It may end between two looks, so wait_thread()
// takes only stops of a first thread. pid: the thread's process.
pid_t wait_thread(pid_t tid, pid_t pid, int* status);

// Whether wait_thread() would tell of a stop or an end.
bool has_news(pid_t tid);

// Whether the thread only waits for a processor, on a machine that has too much else to do.
bool is_starved(pid_t pid, pid_t tid);

}  // namespace dj
