// SPDX-License-Identifier: Apache-2.0
// clean_left_behind() and show_coverage() run the commands that need no session: clean and
// --coverage.
#pragma once
#include <string>

namespace dj {

// Runs `djtap clean PID`: takes out what killed sessions have left in the process and its children.
// Returns the exit code.
int clean_left_behind(int pid);

// Runs --coverage FILE: prints how djtap could probe the file's functions. Needs no process.
// Returns the exit code.
int show_coverage(const std::string& path);

}  // namespace dj
