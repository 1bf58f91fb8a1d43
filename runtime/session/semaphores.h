// SPDX-License-Identifier: Apache-2.0
// Semaphores of SDT marks: 16-bit counts in the target. A program skips the work of preparing a
// mark's arguments while its count is 0.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/stages/plan.h"
#include "runtime/process/mapped_module.h"

namespace dj {

class Semaphores {
 public:
  Semaphores() = default;
  // Those of the plan's marks, each once, where the modules have them. What a note says to lie
  // outside of its module is none.
  Semaphores(const Plan& plan, const std::vector<MappedModule>& modules);

  // In the target, ascending: for raise_semaphores() before it first runs probed, and
  // lower_semaphores().
  const std::vector<uint64_t>& addresses() const { return addresses_; }

 private:
  std::vector<uint64_t> addresses_;
};

}  // namespace dj
