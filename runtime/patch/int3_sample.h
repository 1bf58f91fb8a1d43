// SPDX-License-Identifier: Apache-2.0
// A sample of a module's probes tells whether one of them will be an int3.
#pragma once
#include <vector>

#include "compiler/stages/plan.h"
#include "runtime/patch/module_code.h"
#include "runtime/process/mapped_module.h"

namespace dj {

// Is an int3 surely among the probes of these sites, the module's? Of thousands nearly always; then
// all are checked again with guards, and a few from all over tell that the first time is in vain.
// False for few sites, and where the module cannot be read.
bool shows_int3(const Plan& plan, const std::vector<SiteId>& sites, const MappedModule& module,
                ModuleCodes& codes);

}  // namespace dj
