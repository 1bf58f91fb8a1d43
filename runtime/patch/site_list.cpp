// SPDX-License-Identifier: Apache-2.0
// Sites that are nothing without others: a jump that ends in the bytes of the next ones, and the
// exits of one function.
#include "runtime/patch/site_list.h"

#include <algorithm>
#include <set>
#include <unordered_set>

namespace dj {

SiteList sharing(const SiteList& sites) {
  std::unordered_set<uint64_t> shared;
  for (const PatchSite* site : sites) {
    const uint64_t others = site->state == SiteState::Registered ? site->overlapped() : 0;
    if (others != 0) shared.insert(site->address);
    for (uint64_t i = 0; others >> i != 0; i++) {
      if ((others >> i & 1) != 0) shared.insert(site->address + i);
    }
  }
  SiteList found;
  if (shared.empty()) return found;
  std::copy_if(sites.begin(), sites.end(), std::back_inserter(found), [&](const PatchSite* site) {
    return site->state == SiteState::Registered && shared.contains(site->address);
  });
  std::sort(found.begin(), found.end(),
            [](const PatchSite* a, const PatchSite* b) { return a->address > b->address; });
  return found;
}

std::array<uint8_t, 8> Standing::shared_by(const PatchSite& site) const {
  const arch::Region& region = site.form->region;
  std::array<uint8_t, 8> bytes = region.shared;
  const PatchSite* owner = nullptr;
  uint64_t from = 0;
  for (uint64_t at = region.overlap; at < 5u + region.prefixes; at++) {
    const auto above = sites_.find((region.others >> at & 1) != 0 ? site.address + at : 0);
    if (above != sites_.end()) owner = above->second, from = at;
    if (owner == nullptr || !owner->jump) {
      bytes[at] = owner != nullptr && at == from ? arch::kInt3 : region.original[at];
    } else if (const arch::Region& upper = owner->form->region;
               upper.overlap != 0 && at - from >= upper.overlap) {
      bytes[at] = upper.shared[at - from];
    }  // else what is pinned
  }
  return bytes;
}

SiteList without_support(const SiteList& sites) {
  SiteList fallen;
  Standing standing;
  for (PatchSite* site : sharing(sites)) {
    if (site->overlapped() != 0 && standing.shared_by(*site) != site->form->region.shared) {
      fallen.push_back(site);
    } else {
      standing.add(*site);
    }
  }
  return fallen;
}

SiteList partners(const SiteList& sites) {
  std::set<SiteId> unseen;
  for (const PatchSite* site : sites) {
    for (const PatchCall& call : site->calls) {
      if (site->state == SiteState::Skipped && call.at_exit) {
        unseen.insert(call.site);
      }
    }
  }
  SiteList found;
  for (PatchSite* site : sites) {
    const bool in_vain = std::all_of(
        site->calls.begin(), site->calls.end(),
        [&](const PatchCall& call) { return call.at_exit && unseen.contains(call.site); });
    if (in_vain && !site->calls.empty() && site->state != SiteState::Skipped) {
      found.push_back(site);
    }
  }
  return found;
}

}  // namespace dj
