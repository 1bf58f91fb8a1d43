// Sites that are nothing without others: a jump that ends in the bytes of the next one's, and the
// exits of one function.
#include <algorithm>
#include <map>
#include <set>

#include "runtime/text/site_text.h"

namespace dj {

SiteList without_support(const SiteList& sites) {
  std::map<uint64_t, PatchSite*, std::greater<>> by_address;
  for (PatchSite* site : sites) {
    if (site->state == SiteState::Registered && site->form && site->form->stub != 0) {
      by_address[site->address] = site;
    }
  }
  SiteList fallen;
  std::map<uint64_t, PatchSite*> standing;
  for (auto [address, site] : by_address) {  // who is leaned on comes first
    const uint8_t lean = site->form->region.lean;
    if (lean != 0 && standing.count(address + lean) == 0) {
      fallen.push_back(site);
    } else {
      standing[address] = site;
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
