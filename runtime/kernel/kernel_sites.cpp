// SPDX-License-Identifier: Apache-2.0
// The form of one place, as the module wants it.
#include "runtime/kernel/kernel_sites.h"

#include <algorithm>
#include <bit>

namespace dj {
namespace {

// Ways from the guards of a place, in ascending order; empty where one has none.
std::vector<uint64_t> ways_from_guards(const PatchSite& place) {
  std::vector<uint64_t> ways;
  for (uint32_t guards = place.guards(); guards != 0; guards &= guards - 1) {
    const auto offset = static_cast<uint32_t>(std::countr_zero(guards));
    const auto copy =
        std::ranges::find(place.copies, offset, &std::pair<uint32_t, uint64_t>::first);
    if (copy == place.copies.end()) return {};
    ways.push_back(copy->second);
  }
  return ways;
}

// False: the module has no form for it.
bool add_site(PatchSite& place, KernelSites& to) {
  djtap_site site = {};
  const bool shares_bytes = place.jump && place.form && place.form->region.overlap != 0;
  if (place.original.size() > DJTAP_WINDOW || place.overlapped() != 0 || shares_bytes) return false;
  site.address = place.address;
  site.detour = place.detour;
  site.first_copy = static_cast<uint32_t>(to.copies.size());
  site.length = static_cast<uint8_t>(place.displaced - place.rest);
  std::ranges::copy(place.original, site.original);
  if (place.jump) {
    site.form = DJTAP_JUMP;
    site.guards = place.guards();
    if (place.form) {
      site.prefixes = place.form->placement.prefix;
      if (place.form->stub != 0) site.detour = place.form->stub;
    }
  }
  const std::vector<uint64_t> ways = ways_from_guards(place);
  if (ways.size() != static_cast<size_t>(std::popcount(site.guards))) return false;
  to.copies.insert(to.copies.end(), ways.begin(), ways.end());
  to.sites.push_back(site);
  to.places.push_back(&place);
  return true;
}

}  // namespace

KernelSites kernel_sites(const SiteList& places) {
  SiteList ascending = places;
  std::ranges::stable_sort(ascending, {}, [](const PatchSite* place) { return place->address; });
  KernelSites made;
  for (PatchSite* place : ascending) {
    if (place->state != SiteState::Registered) continue;
    if (!add_site(*place, made)) place->skip("the kernel module has no form for its jump");
  }
  return made;
}

}  // namespace dj
