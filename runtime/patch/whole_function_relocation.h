// SPDX-License-Identifier: Apache-2.0
// Whole functions in detours (arch/x86_64/whole_function.h), for probes that only count: what a hit
// costs there is the way to the detour and back, and one of the two is spared.
#pragma once
#include <vector>

#include "runtime/patch/module_code.h"
#include "runtime/patch/patch.h"
#include "runtime/process/mapped_module.h"

namespace dj {

// To plain jumps at functions' entries whose handlers are all `counting` (by HandlerId) the rest of
// a short function is added, if no other of `sites` has a place there: its instructions in the text
// are not executed any more. Functions with an rseq critical section there stay. `sites`: of
// `modules`, those of a module in a row.
void relocate_whole_functions(std::vector<PatchSite>& sites,
                              const std::vector<MappedModule>& modules, ModuleCodes& codes,
                              const std::vector<bool>& counting);

}  // namespace dj
