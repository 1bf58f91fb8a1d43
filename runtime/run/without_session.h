// SPDX-License-Identifier: Apache-2.0
// Commands that need no session: clean, --coverage and --dry-run.
#pragma once
#include <optional>
#include <string>

#include "runtime/run/compiled.h"
#include "runtime/target/process/traced_process.h"

namespace dj {

// `djtap clean PID`: takes out what killed sessions have left in the process and its children.
// Returns the exit code.
int clean_left_behind(int pid);

// --coverage FILE: prints how the file's functions could be probed. No process. Returns the exit
// code.
int show_coverage(const std::string& path);

// --dry-run: prints which sites would be armed, and how.
void show_dry_run(const std::optional<TracedProcess>& process, const Compiled& compiled);

}  // namespace dj
