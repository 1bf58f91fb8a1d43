// Counts up and down in the stopped target's memory.
#include "runtime/session/semaphores.h"

#include <set>

namespace dj {

Semaphores::Semaphores(const Plan& plan, const std::vector<MappedModule>& modules) {
  std::set<uint64_t> found;
  for (const Site& site : plan.sites) {
    if (!site.mark || site.mark->semaphore == 0) continue;
    for (const MappedModule& module : modules) {
      if (module.path == plan.modules[site.module].path) {
        found.insert(site.mark->semaphore + module.bias);
      }
    }
  }
  addresses_.assign(found.begin(), found.end());
}

Status Semaphores::add(const Stopped& stopped, uint64_t address, int amount) {
  uint8_t bytes[2];
  DJ_TRY_DO(stopped.read(address, bytes));
  const int count = bytes[0] + bytes[1] * 256 + amount;
  bytes[0] = static_cast<uint8_t>(count);
  bytes[1] = static_cast<uint8_t>(count >> 8);
  return stopped.write(address, bytes);
}

Status Semaphores::raise(const Stopped& stopped) {
  for (; raised_ < addresses_.size(); raised_++) {
    DJ_TRY_DO(add(stopped, addresses_[raised_], 1));
  }
  return ok_status();
}

Status Semaphores::lower(const Stopped& stopped) {
  for (; raised_ > 0; raised_--) {
    DJ_TRY_DO(add(stopped, addresses_[raised_ - 1], -1));
  }
  return ok_status();
}

}  // namespace dj
