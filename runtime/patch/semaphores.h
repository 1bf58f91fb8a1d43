// SPDX-License-Identifier: Apache-2.0
// Semaphores of SDT marks: 16-bit counts in the target. A program skips the work of preparing a
// mark's arguments while its count is 0.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/stages/plan.h"
#include "runtime/process/mapped_module.h"

namespace dj {

// Runtime addresses of the semaphores of the plan's marks, ascending, each once. The address that a
// note gives outside of its module is left out.
std::vector<uint64_t> semaphores_of(const Plan& plan, const std::vector<MappedModule>& modules);

}  // namespace dj
