// SPDX-License-Identifier: Apache-2.0
// list_points() runs -l, -L and --source: it lists what djtap could probe. It makes no handler and
// does not touch the target.
#pragma once
#include "runtime/command/choices.h"
#include "runtime/command/command_line.h"
#include "runtime/run/give_up_rights.h"

namespace dj {

// Prints the probe points that what.pattern means, or with what.source a function's source. Returns
// the exit code.
int list_points(const ListChoices& what, const ScriptChoices& choices, const TargetChoices& wanted,
                const NeededFiles& needed, const CommandLine& line);

}  // namespace dj
