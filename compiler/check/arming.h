// SPDX-License-Identifier: Apache-2.0
// Arming conditions that djtap itself follows: those that only its own handlers (begin, timers ...)
// can change. Of the others every hit decides.
#pragma once
#include <vector>

#include "compiler/stages/arming.h"
#include "compiler/stages/program.h"

namespace dj {

// Adds the tests to the program: probes and globals that the script does not show, behind all
// others. The globals count as read, so that no report shows them.
std::vector<Arming> add_arming_tests(Program& program);

}  // namespace dj
