// SPDX-License-Identifier: Apache-2.0
// SiteList holds the places that a step works on. Its functions find places that depend on each
// other: a jump can end in the bytes of the next ones, and djtap probes either all exits of one
// function or none.
#pragma once
#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "runtime/patch/patch.h"

namespace dj {

using SiteList = std::vector<PatchSite*>;  // none of them null

// Returns the Registered sites whose jumps overlap others (arch::Region::overlap), and those
// others, the highest first.
SiteList sharing(const SiteList& sites);

// Standing: sites that djtap will write; add() takes them from the highest address down.
class Standing {
 public:
  void add(const PatchSite& site) { sites_[site.address] = &site; }
  // Returns what the bytes that this jump shares with those above it (Region::shared) will be.
  std::array<uint8_t, 8> shared_by(const PatchSite& site) const;

 private:
  std::unordered_map<uint64_t, const PatchSite*> sites_;
};

// Returns the Registered sites whose jump overlaps others of which djtap will not write at least
// one.
SiteList without_support(const SiteList& sites);

// Returns the other exits of functions that have lost an exit: a handler that misses a return at
// one exit must see it at none.
SiteList partners(const SiteList& sites);

}  // namespace dj
