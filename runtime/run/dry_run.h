// SPDX-License-Identifier: Apache-2.0
// --dry-run: which sites would be armed and how, from files alone; no byte of the target changes.
#pragma once
#include <string>
#include <vector>

#include "compiler/stages/plan.h"
#include "runtime/patch/installed_site.h"
#include "runtime/target/process/traced_process.h"

namespace dj {

// One line a site, as --probes prints it, then one line that counts them and says what was done.
// Whether the text in memory is that of the file is seen only when a session arms.
// process: empty when there is no target; then there are no patches.
std::string dry_run(const std::optional<TracedProcess>& process, const PatchPlan& patches,
                    const Plan& plan);

}  // namespace dj
