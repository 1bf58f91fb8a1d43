// SPDX-License-Identifier: Apache-2.0
// run_doctor() runs `djtap doctor`: it says what works on this machine and with this target, what
// does not, and the way out of each failure. It looks as a session does, by the same functions, and
// changes nothing.
#pragma once
#include "runtime/command/choices.h"
#include "runtime/run/give_up_rights.h"

namespace dj {

// Prints the findings. Returns the exit code: kExitOk if all is well, a session's exit code if a
// session would refuse the target, else kExitLimited.
int run_doctor(const TargetChoices& target, const FileChoices& files, const NeededFiles& needed,
               const Limits& limits, bool json);

}  // namespace dj
