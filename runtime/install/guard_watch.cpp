// SPDX-License-Identifier: Apache-2.0
// Counts are compared with those of the last look.
#include "runtime/install/guard_watch.h"

#include <utility>

namespace dj {

GuardWatch::Weighing GuardWatch::weigh(const Traps& traps, const PatchSite& site,
                                       const Weighing& since) {
  return {traps.hits(site.address) - since.hits, traps.hits(site, site.guards()) - since.arrivals};
}

std::optional<GuardWatch::Weighing> GuardWatch::end_weighing(size_t index) {
  const auto since = weighed_.extract(index);
  return since.empty() ? std::nullopt : std::optional(since.mapped());
}

std::vector<size_t> GuardWatch::hot(const std::vector<PatchSite>& sites, const Traps& traps,
                                    uint64_t limit) {
  constexpr uint64_t kEnough = 100;  // to tell which of the two is more
  std::vector<size_t> hot;
  if (!traps.is_installed()) return hot;
  // One whose handlers were all off for a while has lost its int3, and keeps its guards.
  std::erase_if(weighed_,
                [&](const auto& each) { return sites[each.first].state != SiteState::Int3; });
  for (const auto& [index, since] : weighed_) {
    const Weighing seen = weigh(traps, sites[index], since);
    if (seen.hits + seen.arrivals >= kEnough) hot.push_back(index);
  }
  for (auto& [index, seen] : seen_) {
    const PatchSite& site = sites[index];
    const uint64_t now = site.armed() ? traps.hits(site, site.guards()) : seen;
    if (now - std::exchange(seen, now) > limit) hot.push_back(index);
  }
  return hot;
}

std::vector<size_t> GuardWatch::misread(const std::vector<PatchSite>& sites, const Traps& traps) {
  std::vector<size_t> found;
  for (const auto& [index, seen] : seen_) {
    const PatchSite& site = sites[index];
    if (site.owners.empty() || traps.hits(site, site.doubts()) == 0) continue;
    if (misread_.insert(index).second) found.push_back(index);
  }
  return found;
}

}  // namespace dj
