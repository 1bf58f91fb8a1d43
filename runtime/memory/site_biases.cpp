// SPDX-License-Identifier: Apache-2.0
// The first place of a site decides.
#include "runtime/memory/site_biases.h"

namespace dj {

void write_biases(std::span<abi::SiteInfo> infos, const PatchPlan& patches,
                  const std::vector<MappedModule>& modules) {
  if (infos.empty()) return;
  std::vector<bool> known(infos.size());
  for (const std::vector<PatchSite>* places : {&patches.sites, &patches.hooks}) {
    for (const PatchSite& place : *places) {
      for (const SiteId id : place.owners) {
        if (!known[id]) infos[id].bias = modules[place.module].bias;
        known[id] = true;
      }
    }
  }
}

}  // namespace dj
