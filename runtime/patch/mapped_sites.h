// SPDX-License-Identifier: Apache-2.0
// sites_by_module() tells which sites of a plan lie in which mapped module.
#pragma once
#include <vector>

#include "compiler/stages/plan.h"
#include "runtime/process/mapped_module.h"

namespace dj {

// Returns the sites of each module, by index in `modules`, ascending. A file that is mapped twice
// has its sites in both.
std::vector<std::vector<SiteId>> sites_by_module(const Plan& plan,
                                                 const std::vector<MappedModule>& modules);

}  // namespace dj
