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
  // Those of the plan's marks, each once, where the modules have them. What a note says to lie
  // outside of its module is none.
  Semaphores(const Plan& plan, const std::vector<MappedModule>& modules);

  // One more user of every mark; before the target first runs probed. What is not mapped is left
  // out: no program looks at it.
  void raise(const Stopped& stopped);
  // One less; only what raise() added, and not where the module is gone, or there anew with a count
  // of 0. Idempotent. Fails only when the target is gone.
  Status lower(const Stopped& stopped);

 private:
  struct Count {
    uint64_t address = 0;  // in the target
    MappedModule module;
    bool raised = false;
  };
  std::vector<Count> counts_;
};

}  // namespace dj
