// SPDX-License-Identifier: Apache-2.0
// Switching probes on and off while the target runs. The switch itself is a store into the slots of
// the handlers' calls (switch_slots.cpp). A site that has had no handler on for a while gets its
// original text back, so that it costs nothing; that, and writing the site again when one of its
// handlers is switched on later, is work on the text, for which threads stand.
#include <algorithm>

#include "runtime/install/install.h"
#include "runtime/process/os_error.h"
#include "runtime/text/thread_moves.h"

namespace dj {
namespace {

// How long a site stays in the text without a handler: stopping threads takes 10 ms, which is not
// worth it for one that is switched on again at once.
constexpr uint64_t kRestNs = 300'000'000;

bool all_live(const SiteList& sites) {
  return std::all_of(sites.begin(), sites.end(), [](const PatchSite* s) { return s->live; });
}

}  // namespace

// `off`: from a call to its new PatchCall::off.
template <typename Off>
void Installation::switch_calls(const Off& off) {
  auto switch_site = [&](PatchSite& site) {
    bool changed = false;
    for (PatchCall& call : site.calls) {
      const bool was_on = call.off == 0;
      call.off = off(call);
      if (was_on == (call.off == 0)) continue;
      detours_->turn(site, call);
      changed = true;
    }
    return changed;
  };
  for (PatchSite& hook : patches_.hooks) {
    switch_site(hook);  // stays: it is there for itself
  }
  for (size_t i = 0; i < patches_.sites.size(); i++) {
    PatchSite& site = patches_.sites[i];
    if (!switch_site(site)) continue;
    const bool idle = !site.any_enabled();
    site.off_since_ns = idle ? now_ns() : 0;
    if (idle) {
      switching_.idle.insert(i);
    } else {
      switching_.idle.erase(i);
    }
  }
}

// First the handlers' own calls, then those that follow calls of all functions where they are on.
void Installation::switch_handlers(const std::set<HandlerAt>& handlers, bool on, OffBy by) {
  bool any_shared = false;
  switch_calls([&](const PatchCall& call) -> uint8_t {
    any_shared = any_shared || call.shared;
    if (call.shared || handlers.count({call.site, call.handler}) == 0) return call.off;
    return static_cast<uint8_t>(on ? call.off & ~by : call.off | by);
  });
  if (!any_shared) return;
  std::set<HandlerId> used;
  for (const PatchSite& site : patches_.sites) {
    for (const PatchCall& call : site.calls) {
      if (call.off == 0 && !call.shared) used.insert(call.handler);
    }
  }
  switch_calls([&](const PatchCall& call) -> uint8_t {
    if (!call.shared) return call.off;
    return used.count(call.handler) != 0 ? 0 : kOffByCommand;
  });
}

Installation::TextWork Installation::text_work() {
  TextWork work;
  const uint64_t now = now_ns();
  for (size_t i : switching_.idle) {
    PatchSite& site = patches_.sites[i];
    const bool may_rest = site.armed() && switching_.leaning.count(site.address) == 0;
    if (may_rest && now - site.off_since_ns > kRestNs) work.rest.push_back(&site);
  }
  for (size_t i : switching_.resting) {
    PatchSite& site = patches_.sites[i];
    if (site.state == SiteState::Disarmed && site.any_enabled()) work.wake.push_back(&site);
  }
  work.live = all_live(work.rest) && all_live(work.wake);
  return work;
}

Status Installation::do_text_work(Stopped& stopped, const TextWork& work) {
  std::string damage;
  if (work.live) {
    if (!work.rest.empty()) DJ_TRY_DO(restore_live(stopped, work.rest, damage));
  } else {
    DJ_TRY_DO(find_gone(stopped, work.rest, modules_));
    DJ_TRY_DO(find_gone(stopped, work.wake, modules_));
    DJ_TRY_DO(restore_sites(stopped, work.rest, damage));
  }
  for (size_t i : switching_.idle) {
    if (patches_.sites[i].state == SiteState::Disarmed) switching_.resting.insert(i);
  }
  TextImage text(work.wake);
  text.read(stopped);
  check_text(text, work.wake);
  DJ_TRY_DO(journal_->enter(work.wake));
  if (work.live) {
    if (!work.wake.empty()) DJ_TRY_DO(write_live(stopped, work.wake));
  } else {
    Detouring detouring;
    detouring.add_waiting(work.wake);
    DJ_TRY(MoveCounts moved, move_threads(stopped, detouring, restorers_, false));
    static_cast<void>(moved);
    DJ_TRY_DO(write_sites(stopped, text, work.wake, patches_of(work.wake)));
  }
  std::erase_if(switching_.resting,
                [&](size_t i) { return patches_.sites[i].state != SiteState::Disarmed; });
  return damage.empty() ? ok_status() : Status(Error{damage});
}

}  // namespace dj
