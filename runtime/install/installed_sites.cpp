// SPDX-License-Identifier: Apache-2.0
// The places of an installation as they are listed: one line a place and Plan site.
#include <algorithm>

#include "runtime/install/install.h"

namespace dj {

SiteList Installation::all_others() {
  SiteList list = led_.words.all();
  for (PatchSite* jump : led_.jumps.all()) list.push_back(jump);
  return list;
}

std::vector<std::string> Installation::misread_tables() {
  std::vector<std::string> found;
  for (const size_t index : guards_.misread(patches().sites, traps_)) {
    const PatchSite& place = patches().sites[index];
    const MappedModule& module = modules()[place.module];
    found.push_back(patches().names.shown_at(place.owners[0], place.probe_address() - module.bias) +
                    " " + module.path);
  }
  return found;
}

std::vector<InstalledSite> Installation::sites() const { return list(false); }
std::vector<InstalledSite> Installation::skipped_sites() const { return list(true); }

bool Installation::can_be_hit() const {
  const auto hit = [this](const PatchSite& place) {
    return place.state != SiteState::Skipped && !detours_->is_own(place);
  };
  return std::any_of(patches().sites.begin(), patches().sites.end(), hit) ||
         std::any_of(patches().hooks.begin(), patches().hooks.end(), hit);
}

std::vector<InstalledSite> Installation::list(bool skipped_only) const {
  std::vector<InstalledSite> out;
  const auto add = [&](const PatchSite& place) {
    if (skipped_only && place.state != SiteState::Skipped) {
      return;
    }
    for (SiteId id : place.owners) {
      if (!patches().names.is_listed(id)) continue;
      out.push_back(list_site(place, id, patches().names, modules()[place.module]));
      out.back().guards.traps = guard_traps(place);
    }
  };
  for (const PatchSite& place : patches().sites) add(place);
  for (const PatchSite& place : patches().hooks) add(place);
  sort_sites(out);
  return out;
}

SiteMemory Installation::site_memory() const {
  SiteMemory memory;
  memory.detours = detours_->detour_bytes;
  memory.stubs = detours_->plan.stub_bytes;
  for (const PatchSite& site : patches().sites) {
    memory.places += site.state != SiteState::Skipped && site.state != SiteState::Registered;
  }
  memory.journal = journal_ ? journal_->bytes() : 0;
  memory.tables = patches().names.size() * sizeof(abi::SiteInfo);
  memory.traps = traps_.bytes();
  return memory;
}

size_t Installation::armed_count() const {
  return static_cast<size_t>(
      std::count_if(patches().sites.begin(), patches().sites.end(),
                    [this](auto& site) { return site.armed() && !detours_->is_own(site); }));
}

bool Installation::is_in_text() {
  if (!detours_) return false;
  const auto is_in = [](const PatchSite* p) { return p->armed() || p->half_written(); };
  return std::ranges::any_of(detours_->places(), is_in) || std::ranges::any_of(all_others(), is_in);
}

}  // namespace dj
