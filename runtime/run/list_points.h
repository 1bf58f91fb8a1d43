// SPDX-License-Identifier: Apache-2.0
// -l, -L and --source: what could be probed. No handler is made, the target is not touched.
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
