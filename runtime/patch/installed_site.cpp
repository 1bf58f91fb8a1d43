// SPDX-License-Identifier: Apache-2.0
// Places as lists show them: one line for each place and Plan site.
#include "runtime/patch/installed_site.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <tuple>

#include "compiler/base/counted.h"
#include "compiler/stages/shown_symbol.h"

namespace dj {

std::string shown_name(const InstalledSite& site) {
  return site.foreign.empty() ? shown_symbol(site.symbol) : site.foreign;
}

std::string to_string(const InstalledSite& site) {
  std::string state = site_state_name(site.state);
  if (!site.reason.empty()) {
    state += ": " + site.reason;
  }
  if (site.guards.count != 0) {
    state += ", " + counted(site.guards.traps, "guard trap");
  }
  const std::string process = site.pid != 0 ? fmt::format(" pid {}", site.pid) : "";
  return fmt::format("{:016x} {} {} {} [{}]{}", site.address, site.letter, shown_name(site),
                     site.module, state, process);
}

InstalledSite list_site(const PatchSite& place, SiteId id, const SiteNames& names,
                        const MappedModule& module) {
  InstalledSite site;
  site.site = id;
  site.address = place.probe_address();
  site.letter = names.letter(id);
  site.symbol = names.symbol_at(id, place.probe_address() - module.bias);
  site.foreign = names.foreign_at(id, place.probe_address() - module.bias);
  site.module = module.path;
  site.state = place.state;
  site.reason = place.reason;
  site.jump = place.jump;
  site.guards.count = static_cast<unsigned>(std::popcount(place.guards()));
  for (const PatchCall& call : place.calls) {
    if (call.site == id) {
      site.handlers.push_back({call.handler, names.probe(call.handler), call.off});
    }
  }
  return site;
}

std::vector<InstalledSite> list_sites(const PatchPlan& patches,
                                      const std::vector<MappedModule>& modules) {
  std::vector<InstalledSite> list;
  for (const std::vector<PatchSite>* places : {&patches.sites, &patches.hooks}) {
    for (const PatchSite& place : *places) {
      for (const SiteId id : place.owners) {
        if (patches.names.is_listed(id))
          list.push_back(list_site(place, id, patches.names, modules[place.module]));
      }
    }
  }
  sort_sites(list);
  return list;
}

void sort_sites(std::vector<InstalledSite>& sites) {
  std::sort(sites.begin(), sites.end(), [](const InstalledSite& a, const InstalledSite& b) {
    return std::tie(a.site, a.address) < std::tie(b.site, b.address);
  });
}

}  // namespace dj
