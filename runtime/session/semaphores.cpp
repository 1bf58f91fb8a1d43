// Counts up and down in the stopped target's memory.
#include "runtime/session/semaphores.h"

#include <set>

namespace dj {
namespace {

// False: it is not there, or would go below 0.
bool add(const Stopped& stopped, uint64_t address, int amount) {
  uint8_t bytes[2];
  if (!stopped.read(address, bytes).ok()) return false;
  const int count = bytes[0] + bytes[1] * 256 + amount;
  if (count < 0) return false;
  bytes[0] = static_cast<uint8_t>(count);
  bytes[1] = static_cast<uint8_t>(count >> 8);
  return stopped.write(address, bytes).ok();
}

}  // namespace

Semaphores::Semaphores(const Plan& plan, const std::vector<MappedModule>& modules) {
  std::set<uint64_t> known;
  for (const Site& site : plan.sites) {
    if (!site.mark || site.mark->semaphore == 0) continue;
    for (const MappedModule& module : modules) {
      const uint64_t address = site.mark->semaphore + module.bias;
      const bool inside = address >= module.begin && address < module.end;
      if (module.path != plan.modules[site.module].path || !inside) continue;
      if (known.insert(address).second) counts_.push_back({address, module});
    }
  }
}

void Semaphores::raise(const Stopped& stopped) {
  for (Count& count : counts_) {
    count.raised = count.raised || add(stopped, count.address, 1);
  }
}

Status Semaphores::lower(const Stopped& stopped) {
  if (counts_.empty()) return ok_status();
  DJ_TRY(std::vector<MappedModule> now, mapped_modules(stopped.pid()));
  for (Count& count : counts_) {
    if (count.raised && is_mapped(count.module, now)) add(stopped, count.address, -1);
    count.raised = false;
  }
  return ok_status();
}

}  // namespace dj
