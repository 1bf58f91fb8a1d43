// SPDX-License-Identifier: Apache-2.0
// dry_run() makes the text of --dry-run: which sites djtap would arm and how, from files alone. It
// changes no byte of the target.
#pragma once
#include <string>
#include <vector>

#include "compiler/stages/plan.h"
#include "runtime/patch/installed_site.h"
#include "runtime/run/found_target.h"

namespace dj {

// Returns one line for each site, as --probes prints it, then one line that counts them and says
// what djtap has done. Only a session that arms checks that the text in memory is that of the file.
// Without a target there are no patches.
std::string dry_run(const FoundTarget& target, const PatchPlan& patches, const Plan& plan);

}  // namespace dj
