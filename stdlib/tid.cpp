// hot: tid(), the number of the thread that runs the handler.
#include "runtime/agent/thread.h"
#include "stdlib/entries.h"

int64_t dj_tid() { return dj::agent::thread_id(); }
