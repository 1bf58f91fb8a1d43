// SPDX-License-Identifier: Apache-2.0
// djtap doctor: what works on this machine and with this target, what does not, and the way out of
// each. It looks as a session does, by the same functions, and changes nothing.
#pragma once
#include "runtime/command/choices.h"
#include "runtime/run/give_up_rights.h"

namespace dj {

// Prints the findings. Returns the exit code: kExitOk where all is well, that of a session where it
// would refuse the target, else kExitLimited.
int run_doctor(const TargetChoices& target, const FileChoices& files, const NeededFiles& needed,
               const Limits& limits, bool json);

}  // namespace dj
