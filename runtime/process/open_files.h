// SPDX-License-Identifier: Apache-2.0
// How many files djtap may have open: for each process of a session it holds four, and a shell's
// usual limit is 1024 (RLIMIT_NOFILE, getrlimit(2)). What djtap starts has the limit that djtap was
// started with: a program may take a high one for a reason to look at each number up to it.
#pragma once
#include <sys/resource.h>

#include <optional>

namespace dj {

// Raises djtap's soft limit to its hard limit, for good. Does nothing where they are equal or the
// kernel refuses. No other thread of djtap may call it meanwhile.
void raise_open_files();

// Returns the soft limit that djtap was started with. Nothing: it has not been raised.
std::optional<rlim_t> open_files_before();

// Gives this process that limit again: a child of djtap's, before it executes another program. Safe
// behind fork() in a program with threads.
void lower_open_files();

}  // namespace dj
