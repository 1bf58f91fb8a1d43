// SPDX-License-Identifier: Apache-2.0
// First the handlers' own calls are switched, then those that follow calls of all functions where
// they are on (PatchCall::shared).
#include "runtime/detours/switches.h"

#include <algorithm>

namespace dj {
namespace {

// How long a site stays in the text without a handler: stopping threads takes 10 ms, which is not
// worth it for one that is switched on again at once.
constexpr uint64_t kRestNs = 300'000'000;

bool all_live(const SiteList& sites) {
  return std::ranges::all_of(sites, [](const PatchSite* site) { return site->live; });
}

// `off`: from a call to its new PatchCall::off. Whether some call is on now and was off, or the
// other way round.
template <typename Off>
bool switch_site(const DetourWriter& writer, PatchSite& site, const Off& off) {
  bool changed = false;
  for (PatchCall& call : site.calls) {
    const bool was_on = call.off == 0;
    call.off = off(call);
    if (was_on == (call.off == 0)) continue;
    writer.turn(site, call);
    changed = true;
  }
  return changed;
}

}  // namespace

Switches::Switches(const Detours& detours) {
  for (const PatchSite& site : detours.plan.patches.sites) {
    for (uint32_t at = 0, others = site.overlapped(); others >> at != 0; at++) {
      if ((others >> at & 1) != 0) overlapping_.insert({site.address, site.address + at});
    }
  }
}

template <typename Off>
void Switches::switch_calls(Detours& detours, uint64_t now_ns, const Off& off) {
  for (PatchSite& hook : detours.plan.patches.hooks) {
    switch_site(detours.writer, hook, off);  // stays: it is there for itself
  }
  std::vector<PatchSite>& sites = detours.plan.patches.sites;
  for (size_t i = 0; i < sites.size(); i++) {
    if (!switch_site(detours.writer, sites[i], off)) continue;
    const bool idle = !sites[i].any_enabled();
    sites[i].off_since_ns = idle ? now_ns : 0;
    if (idle) {
      idle_.insert(i);
    } else {
      idle_.erase(i);
    }
  }
}

void Switches::turn(Detours& detours, const std::set<HandlerAt>& handlers, bool on, OffBy by,
                    uint64_t now_ns) {
  bool any_shared = false;
  switch_calls(detours, now_ns, [&](const PatchCall& call) -> uint8_t {
    any_shared = any_shared || call.shared;
    if (call.shared || !handlers.contains({call.site, call.handler})) return call.off;
    return static_cast<uint8_t>(on ? call.off & ~by : call.off | by);
  });
  if (!any_shared) return;
  std::set<HandlerId> used;
  for (const PatchSite& site : detours.plan.patches.sites) {
    for (const PatchCall& call : site.calls) {
      if (call.off == 0 && !call.shared) used.insert(call.handler);
    }
  }
  switch_calls(detours, now_ns, [&](const PatchCall& call) -> uint8_t {
    if (!call.shared) return call.off;
    return used.contains(call.handler) ? 0 : kOffByCommand;
  });
}

TextWork Switches::work(Detours& detours, uint64_t now_ns) const {
  TextWork work;
  std::vector<PatchSite>& sites = detours.plan.patches.sites;
  for (const size_t i : idle_) {
    const bool may_rest = sites[i].armed() && !overlapping_.contains(sites[i].address);
    if (may_rest && now_ns - sites[i].off_since_ns > kRestNs) work.rest.push_back(&sites[i]);
  }
  for (const size_t i : resting_) {
    if (sites[i].state == SiteState::Disarmed && sites[i].any_enabled())
      work.wake.push_back(&sites[i]);
  }
  work.live = all_live(work.rest) && all_live(work.wake);
  return work;
}

void Switches::settle(const Detours& detours) {
  const std::vector<PatchSite>& sites = detours.plan.patches.sites;
  for (const size_t i : idle_) {
    if (sites[i].state == SiteState::Disarmed) resting_.insert(i);
  }
  std::erase_if(resting_, [&](size_t i) { return sites[i].state != SiteState::Disarmed; });
}

}  // namespace dj
