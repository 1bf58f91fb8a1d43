// SPDX-License-Identifier: Apache-2.0
// Checks a thousand of the sites alone.
#include "runtime/patch/int3_sample.h"

namespace dj {

bool shows_int3(const Plan& plan, const std::vector<SiteId>& sites, const MappedModule& module,
                ModuleCodes& codes) {
  constexpr size_t kFew = 1024;
  std::vector<arch::Region> few;
  for (size_t i = 0; i < kFew && sites.size() >= kFew; i++) {
    const Site& site = plan.sites[sites[i * sites.size() / kFew]];
    if (site.kind != SiteKind::Return && !site.syscall) few.push_back({.address = site.address});
  }
  if (few.empty()) return false;
  const Result<ModuleCode*> code = codes.get(module);
  if (!code.ok()) return false;
  return code.value()->checker->any_breakpoint(few);
}

}  // namespace dj
