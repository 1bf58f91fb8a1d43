// SPDX-License-Identifier: Apache-2.0
// show_coverage() runs a command that needs no session: --coverage.
#pragma once
#include <string>

namespace dj {

// Runs --coverage FILE: prints how djtap could probe the file's functions. Needs no process.
// Returns the exit code.
int show_coverage(const std::string& path);

}  // namespace dj
