// SPDX-License-Identifier: Apache-2.0
// SiteList: places that a step works on, and what places mean for each other: a jump can end in the
// bytes of the next ones, and the exits of one function are probed together or not at all.
#pragma once
#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "runtime/patch/patch.h"

namespace dj {

using SiteList = std::vector<PatchSite*>;  // none of them null

// Registered sites whose jumps lean on others (arch::Region::lean), and those, the highest first.
SiteList sharing(const SiteList& sites);

// Sites that will be written, entered from the highest down.
class Standing {
 public:
  void add(const PatchSite& site) { sites_[site.address] = &site; }
  // What the bytes that this jump shares with those above it (Region::shared) will be.
  std::array<uint8_t, 8> shared_by(const PatchSite& site) const;

 private:
  std::unordered_map<uint64_t, const PatchSite*> sites_;
};

// Registered sites whose jump leans on others of which one will not be written.
SiteList without_support(const SiteList& sites);

// A return that is not seen at one exit is seen at none: the other exits of those that have lost
// one.
SiteList partners(const SiteList& sites);

}  // namespace dj
