// SPDX-License-Identifier: Apache-2.0
// run_interactively() runs -i: a script that grows at a prompt, like that of stap --interactive.
#pragma once
#include "runtime/command/choices.h"
#include "runtime/run/give_up_rights.h"

namespace dj {

// Reads commands and items of a script (probes, functions, globals) from standard input until its
// end; `help` names the commands. Each run is a djtap of its own with the same options. Returns the
// exit code of the last run, 0 without one.
//
// words: the command line of each run. many: as check_script() takes it. files: as give_up_rights()
// does.
int run_interactively(const std::vector<std::string>& words, const ScriptChoices& script,
                      const TargetChoices& target, size_t many, const NeededFiles& files);

}  // namespace dj
