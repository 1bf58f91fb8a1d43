// SPDX-License-Identifier: Apache-2.0
// By the notes of the marks.
#include "runtime/session/semaphores.h"

#include <algorithm>

namespace dj {

Semaphores::Semaphores(const Plan& plan, const std::vector<MappedModule>& modules) {
  for (const Site& site : plan.sites) {
    if (!site.mark || site.mark->semaphore == 0) continue;
    for (const MappedModule& module : modules) {
      const uint64_t address = site.mark->semaphore + module.bias;
      const bool inside = address >= module.begin && address < module.end;
      if (module.path == plan.modules[site.module].path && inside) addresses_.push_back(address);
    }
  }
  std::sort(addresses_.begin(), addresses_.end());
  addresses_.erase(std::unique(addresses_.begin(), addresses_.end()), addresses_.end());
}

}  // namespace dj
