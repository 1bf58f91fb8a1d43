// SPDX-License-Identifier: Apache-2.0
// -i: a script that grows at a prompt, as stap --interactive has it.
#pragma once
#include "runtime/command/options.h"

namespace dj {

// Reads commands and items of a script (probes, functions, globals) from standard input until its
// end; `help` names the commands. Each run is a djtap of its own with the same options. Returns the
// exit code of the last run, 0 without one.
int run_interactively(const Options& options);

}  // namespace dj
