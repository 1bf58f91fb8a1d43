// SPDX-License-Identifier: Apache-2.0
// Goes by the modules' paths.
#include "runtime/patch/mapped_sites.h"

#include <algorithm>

namespace dj {

std::vector<std::vector<SiteId>> sites_by_module(const Plan& plan,
                                                 const std::vector<MappedModule>& modules) {
  std::vector<std::vector<SiteId>> by_file(plan.modules.size()), by_module(modules.size());
  for (SiteId id = 0; id < plan.sites.size(); id++) {
    by_file[plan.sites[id].module].push_back(id);
  }
  for (size_t i = 0; i < modules.size(); i++) {
    for (size_t file = 0; file < by_file.size(); file++) {
      if (plan.modules[file].path == modules[i].path) {
        by_module[i].insert(by_module[i].end(), by_file[file].begin(), by_file[file].end());
      }
    }
    std::sort(by_module[i].begin(), by_module[i].end());
  }
  return by_module;
}

}  // namespace dj
