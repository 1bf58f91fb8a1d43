// SPDX-License-Identifier: Apache-2.0
// run_program() runs a program to its end, with its words in a file.
#pragma once
#include <csignal>
#include <string>
#include <vector>

#include "compiler/base/result.h"

namespace dj {

// Whether a folder of $PATH has a program of this name; a name with "/" is a path.
bool is_program(const std::string& name);

// Runs the program words[0] of $PATH with the rest of `words`, in a process group of its own, and
// waits for its end. stdin is /dev/null; what it prints goes to the file `log`, which is replaced.
// Its environment is PATH and LC_ALL=C: no word of the user's changes what it does. mask: the
// signals that are blocked in it. Returns its wait status. Fails where the program cannot be
// started, and where djtap is told to end, which ends the program and its children.
Result<int> run_program(std::vector<std::string> words, const std::string& log,
                        const sigset_t& mask);

}  // namespace dj
