// SPDX-License-Identifier: Apache-2.0
// hot: tid(), the number of the thread that runs the handler, or of the one it is about.
#include "runtime/agent/task.h"
#include "stdlib/entries.h"

int64_t dj_tid() {
  if (__builtin_expect(dj::agent::told_task() != nullptr, 0)) return dj_told_thread_id();
  return dj::agent::thread_id();
}
