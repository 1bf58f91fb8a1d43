// SPDX-License-Identifier: Apache-2.0
// relocate_whole_functions() moves whole functions into detours (arch/x86_64/whole_function.h), for
// probes that only count. What a hit costs there is the way to the detour and the way back; this
// spares the way back.
#pragma once
#include <vector>

#include "runtime/patch/module_code.h"
#include "runtime/patch/patch.h"
#include "runtime/process/mapped_module.h"

namespace dj {

// Adds the rest of a short function to the detour of a plain jump at its entry, if all handlers
// there are `counting` (by HandlerId) and no other of `sites` has a place in the function: threads
// no longer execute the function's instructions in the text. Leaves functions alone that have an
// rseq critical section there. `sites`: of `modules`; those of one module stand in a row.
void relocate_whole_functions(std::vector<PatchSite>& sites,
                              const std::vector<MappedModule>& modules, ModuleCodes& codes,
                              const std::vector<bool>& counting);

}  // namespace dj
