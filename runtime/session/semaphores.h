// Semaphores of SDT marks: 16-bit counts in the target. A program skips the work of preparing a
// mark's arguments while its count is 0.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/plan.h"
#include "compiler/result.h"
#include "runtime/process/process.h"
#include "runtime/process/stopped.h"

namespace dj {

class Semaphores {
 public:
  Semaphores() = default;
  // Those of the plan's marks, each once, where the modules have them.
  Semaphores(const Plan& plan, const std::vector<MappedModule>& modules);

  // One more user of every mark; before the target first runs probed.
  Status raise(const Stopped& stopped);
  // One less; only what raise() added. Idempotent.
  Status lower(const Stopped& stopped);

 private:
  static Status add(const Stopped& stopped, uint64_t address, int amount);

  std::vector<uint64_t> addresses_;  // in the target
  size_t raised_ = 0;                // of addresses_, from the first
};

}  // namespace dj
