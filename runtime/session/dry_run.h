// SPDX-License-Identifier: Apache-2.0
// --dry-run: which sites would be armed and how, from files alone; no byte of the target changes.
#pragma once
#include <string>
#include <vector>

#include "compiler/stages/plan.h"
#include "runtime/install/install.h"
#include "runtime/session/session.h"

namespace dj {

// One line a site, as --probes prints it, then one line that counts them and says what was done.
// Whether the text in memory is that of the file is seen only when a session arms.
Result<std::string> dry_run(TracedProcess* process, ModuleCodes& codes, const SessionInput& input);

}  // namespace dj
