// SPDX-License-Identifier: Apache-2.0
// GuardWatch watches the guards of an installation's sites. It tells which guards are hot, so that
// their sites get another form, and which jump tables djtap has read wrong.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "runtime/install/traps.h"
#include "runtime/patch/patch.h"

namespace dj {

// GuardWatch: knows a site by its index in PatchPlan::sites.
class GuardWatch {
 public:
  // Weighing: how often threads have hit a site whose hits trap, too, and how often they have
  // arrived at its guards. weigh() gives the counts less those of `since`.
  struct Weighing {
    uint64_t hits = 0, arrivals = 0;
  };
  static Weighing weigh(const Traps& traps, const PatchSite& site, const Weighing& since);
  static Weighing weigh(const Traps& traps, const PatchSite& site) {
    return weigh(traps, site, Weighing());
  }

  // begin(): watches the guards of the site from now on, where threads have trapped `seen` times.
  // end(): stops that.
  void begin(size_t index, uint64_t seen = 0) { seen_[index] = seen; }
  void end(size_t index) { seen_.erase(index); }
  // begin_weighing(): weighs the site from now on. end_weighing(): ends that and returns `since`;
  // empty: the site was not weighed.
  void begin_weighing(size_t index, const Weighing& since) { weighed_.emplace(index, since); }
  std::optional<Weighing> end_weighing(size_t index);
  // Returns the sites at whose guards more than `limit` threads have arrived since the last call,
  // and those that it has weighed long enough (100 hits and arrivals together).
  std::vector<size_t> hot(const std::vector<PatchSite>& sites, const Traps& traps, uint64_t limit);
  // Returns the sites at which a thread has arrived where a jump table should have announced it. It
  // gives each site once.
  std::vector<size_t> misread(const std::vector<PatchSite>& sites, const Traps& traps);

 private:
  std::map<size_t, uint64_t> seen_;  // traps at guards as of the last look
  std::map<size_t, Weighing> weighed_;
  std::set<size_t> misread_;  // those that misread() has given
};

}  // namespace dj
