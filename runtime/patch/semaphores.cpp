// SPDX-License-Identifier: Apache-2.0
// By the notes of the marks.
#include "runtime/patch/semaphores.h"

#include <algorithm>

namespace dj {

std::vector<uint64_t> semaphores_of(const Plan& plan, const std::vector<MappedModule>& modules) {
  std::vector<uint64_t> addresses;
  for (const Site& site : plan.sites) {
    if (!site.mark || site.mark->semaphore == 0) continue;
    for (const MappedModule& module : modules) {
      const uint64_t address = site.mark->semaphore + module.bias;
      const bool inside = address >= module.begin && address < module.end;
      if (module.path == plan.modules[site.module].path && inside) addresses.push_back(address);
    }
  }
  std::ranges::sort(addresses);
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  return addresses;
}

}  // namespace dj
