// SPDX-License-Identifier: Apache-2.0
// How many files djtap may have open (RLIMIT_NOFILE, getrlimit(2)). djtap holds four files for each
// process of a session, and most shells set a limit of 1024. A program that djtap starts gets the
// limit that djtap had at its start, since some programs look at each number up to the limit.
#pragma once
#include <sys/resource.h>

#include <optional>

namespace dj {

// Raises djtap's soft limit to its hard limit, for good. Does nothing where they are equal or the
// kernel refuses. Only one thread at a time may call a function of this header.
void raise_open_files();

// Returns the soft limit that djtap had at its start. Nothing: djtap has not raised it.
std::optional<rlim_t> open_files_before();

// Sets this process's limit to the one that djtap had at its start. A child of djtap's calls it
// before it executes another program; it is safe behind fork() in a program with threads.
void lower_open_files();

}  // namespace dj
