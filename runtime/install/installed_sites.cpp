// SPDX-License-Identifier: Apache-2.0
// The places of an installation as they are listed: one line a place and Plan site.
#include <algorithm>

#include "runtime/install/install.h"

namespace dj {

SiteList Installation::all_sites() {
  SiteList list;
  for (PatchSite& site : patches_.sites) {
    list.push_back(&site);
  }
  return list;
}

SiteList Installation::all_places() {
  SiteList list = all_sites();
  for (PatchSite& hook : patches_.hooks) {
    list.push_back(&hook);
  }
  return list;
}

SiteList Installation::all_others() {
  SiteList list = words_.all();
  for (PatchSite* jump : led_jumps_.all()) list.push_back(jump);
  return list;
}

SiteList Installation::all_hooks() {
  SiteList list;
  for (PatchSite& hook : patches_.hooks) {
    list.push_back(&hook);
  }
  return list;
}

std::vector<std::string> Installation::misread_tables() {
  std::vector<std::string> found;
  for (const size_t index : guards_.misread(patches_.sites, traps_)) {
    const PatchSite& place = patches_.sites[index];
    const MappedModule& module = modules_[place.module];
    found.push_back(patches_.names.shown_at(place.owners[0], place.pivot() - module.bias) + " " +
                    module.path);
  }
  return found;
}

std::vector<InstalledSite> Installation::sites() const { return list(false); }
std::vector<InstalledSite> Installation::skipped_sites() const { return list(true); }

size_t Installation::site_count() const {
  size_t count = 0;
  for (const std::vector<PatchSite>* places : {&patches_.sites, &patches_.hooks}) {
    for (const PatchSite& place : *places) {
      count += std::ranges::count_if(place.owners,
                                     [this](SiteId id) { return patches_.names.is_listed(id); });
    }
  }
  return count;
}

bool Installation::can_be_hit() const {
  const auto hit = [this](const PatchSite& place) {
    return place.state != SiteState::Skipped && !is_own(place);
  };
  return std::any_of(patches_.sites.begin(), patches_.sites.end(), hit) ||
         std::any_of(patches_.hooks.begin(), patches_.hooks.end(), hit);
}

std::vector<InstalledSite> Installation::list(bool skipped_only) const {
  std::vector<InstalledSite> out;
  const auto add = [&](const PatchSite& place) {
    if (skipped_only && place.state != SiteState::Skipped) {
      return;
    }
    for (SiteId id : place.owners) {
      if (!patches_.names.is_listed(id)) continue;
      out.push_back(list_site(place, id, patches_.names, modules_[place.module]));
      out.back().guard_traps = guard_traps(place);
    }
  };
  for (const PatchSite& place : patches_.sites) add(place);
  for (const PatchSite& place : patches_.hooks) add(place);
  sort_sites(out);
  return out;
}

size_t Installation::armed_count() const {
  return static_cast<size_t>(
      std::count_if(patches_.sites.begin(), patches_.sites.end(),
                    [this](auto& site) { return site.armed() && !is_own(site); }));
}

bool Installation::is_in_text() {
  const auto is_in = [](const PatchSite* p) { return p->armed() || p->half_written(); };
  return std::ranges::any_of(all_places(), is_in) || std::ranges::any_of(all_others(), is_in);
}

}  // namespace dj
