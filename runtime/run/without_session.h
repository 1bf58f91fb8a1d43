// SPDX-License-Identifier: Apache-2.0
// Commands that need no session: clean and --coverage.
#pragma once
#include <string>

namespace dj {

// `djtap clean PID`: takes out what killed sessions have left in the process and its children.
// Returns the exit code.
int clean_left_behind(int pid);

// --coverage FILE: prints how the file's functions could be probed. No process. Returns the exit
// code.
int show_coverage(const std::string& path);

}  // namespace dj
