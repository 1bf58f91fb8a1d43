// SPDX-License-Identifier: Apache-2.0
// shows_int3() checks a sample of a module's probes, to tell early that one of them will be an
// int3.
#pragma once
#include <vector>

#include "compiler/stages/plan.h"
#include "runtime/patch/module_code.h"
#include "runtime/process/mapped_module.h"

namespace dj {

// Whether an int3 is surely among the probes of `sites`, which are the module's. Among thousands
// one nearly always is. The planner then checks all of them again with guards, and the sample
// spares it the first check, which would be in vain. The sample has at most 1,024 sites, from all
// over. False for fewer sites, and where the module cannot be read.
bool shows_int3(const Plan& plan, const std::vector<SiteId>& sites, const MappedModule& module,
                ModuleCodes& codes);

}  // namespace dj
