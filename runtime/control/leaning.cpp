// A jump that ends in the bytes of the next site's jump is nothing without that.
#include <map>

#include "runtime/control/site_text.h"

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

}  // namespace dj
