// SPDX-License-Identifier: Apache-2.0
// GuardWatch: watches the guards of an installation's sites. Says which are hot, so that their
// sites get another form, and which jump tables were read wrong.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "runtime/install/traps.h"
#include "runtime/patch/patch.h"

namespace dj {

// Sites are known by their index in PatchPlan::sites.
class GuardWatch {
 public:
  // Weighing: how often threads have hit a site whose hits trap, too, and arrived at its guards.
  struct Weighing {
    uint64_t hits = 0, arrivals = 0;
  };
  static Weighing weigh(const Traps& traps, const PatchSite& site, const Weighing& since);
  static Weighing weigh(const Traps& traps, const PatchSite& site) {
    return weigh(traps, site, Weighing());
  }

  // Looks at the guards of the site from now on, where threads have trapped `seen` times; looks at
  // them no more.
  void begin(size_t index, uint64_t seen = 0) { seen_[index] = seen; }
  void end(size_t index) { seen_.erase(index); }
  // Weighs the site from now on; says since when it is weighed, and ends that (empty: it is not).
  void begin_weighing(size_t index, const Weighing& since) { weighed_.emplace(index, since); }
  std::optional<Weighing> end_weighing(size_t index);
  // The sites at whose guards more than `limit` threads have arrived since this was asked last, and
  // those that were weighed long enough.
  std::vector<size_t> hot(const std::vector<PatchSite>& sites, const Traps& traps, uint64_t limit);
  // Sites at which a thread has arrived where a jump table should have said so: each is given once.
  std::vector<size_t> misread(const std::vector<PatchSite>& sites, const Traps& traps);

 private:
  std::map<size_t, uint64_t> seen_;  // traps at guards as of the last look
  std::map<size_t, Weighing> weighed_;
  std::set<size_t> misread_;  // those that misread() has given
};

}  // namespace dj
