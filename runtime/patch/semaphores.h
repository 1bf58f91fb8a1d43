// SPDX-License-Identifier: Apache-2.0
// semaphores_of() finds the semaphores of SDT marks: 16-bit counts in the target. While a mark's
// count is 0, the program skips the work of preparing the mark's arguments.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/stages/plan.h"
#include "runtime/process/mapped_module.h"

namespace dj {

// Returns the runtime addresses of the semaphores of the plan's marks, ascending, each once. Leaves
// out an address that a note gives outside of its module.
std::vector<uint64_t> semaphores_of(const Plan& plan, const std::vector<MappedModule>& modules);

}  // namespace dj
