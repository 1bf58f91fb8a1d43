// Switching probes on and off while the target runs: the bytes of a changed place go back to the
// original, then the jump or int3 for the handlers that are on is written, all within one stop.
#include <algorithm>

#include "runtime/control/install.h"
#include "runtime/control/thread_moves.h"
#include "runtime/shared/trap.h"

namespace dj {
namespace {

bool any_enabled(const PatchSite& site) {
  return std::any_of(site.calls.begin(), site.calls.end(), [](auto& c) { return c.enabled; });
}

// Is one of the handlers at these sites called here?
bool is_meant(const PatchCall& call, const std::set<HandlerAt>& handlers) {
  if (!call.shared) return handlers.count({call.site, call.handler}) != 0;
  return std::any_of(handlers.begin(), handlers.end(),
                     [&](const HandlerAt& at) { return at.second == call.handler; });
}

// Switches the calls that `wants` has an answer for. The sites where that changes which handlers
// run.
template <typename Wants>
std::set<PatchSite*> switch_calls(std::vector<PatchSite>& sites, const Wants& wants) {
  std::set<PatchSite*> changed;
  for (PatchSite& site : sites) {
    for (PatchCall& call : site.calls) {
      const bool wanted = wants(call);
      if (wanted != call.enabled) changed.insert(&site);
      call.enabled = wanted;
    }
  }
  return changed;
}

// First the handlers' own calls, then those that follow calls of all functions where they are on.
SiteList switch_sites(std::vector<PatchSite>& sites, const std::set<HandlerAt>& handlers, bool on) {
  std::set<PatchSite*> changed = switch_calls(sites, [&](const PatchCall& call) {
    return !call.shared && is_meant(call, handlers) ? on : call.enabled;
  });
  std::set<HandlerId> used;
  for (const PatchSite& site : sites) {
    for (const PatchCall& call : site.calls) {
      if (call.enabled && !call.shared) used.insert(call.handler);
    }
  }
  changed.merge(switch_calls(sites, [&](const PatchCall& call) {
    return call.shared ? used.count(call.handler) != 0 : call.enabled;
  }));
  SiteList list;
  for (PatchSite& site : sites) {
    if (changed.count(&site) != 0 && (site.armed() || site.state == SiteState::Disarmed)) {
      list.push_back(&site);
    }
  }
  return list;
}

}  // namespace

// The detour for the enabled calls: built once for each set of them, and kept, since threads may be
// inside any of them.
Status Installation::choose_detour(SessionMemory& memory, PatchSite& site) {
  if (site.calls.size() > 1) {
    std::vector<bool> enabled;
    for (const PatchCall& call : site.calls) {
      enabled.push_back(call.enabled);
    }
    auto [variant, fresh] = variants_.try_emplace({site.address, enabled});
    if (fresh) {
      Status built = code_->build(memory, site, abis_);
      if (!built.ok()) {
        variants_.erase(variant);
        return built;
      }
      variant->second = {site.detour, site.copies};
    }
    if (!fresh && site.jump && site.form) {
      site.detour = variant->second.detour;
      DJ_TRY_DO(code_->write_stub(memory, site));
    }
    site.detour = variant->second.detour;
    site.copies = variant->second.copies;
  }
  auto* table = reinterpret_cast<abi::TrapTable*>(trap_table_);
  for (auto [address, detour] : trap_entries_of(site)) {
    CHECK(abi::trap_table_insert(table, address, detour));
  }
  return ok_status();
}

// A stub is written anew only while nobody can be in it.
bool Installation::switches_live(const std::set<HandlerAt>& handlers) const {
  return std::all_of(patches_.sites.begin(), patches_.sites.end(), [&](const PatchSite& site) {
    bool meant = std::any_of(site.calls.begin(), site.calls.end(),
                             [&](const PatchCall& call) { return is_meant(call, handlers); });
    bool possible = site.live && !(site.form && site.calls.size() > 1);
    return !meant || possible || site.state == SiteState::Skipped || site.state == SiteState::Gone;
  });
}

// Those of the changed sites that have handlers now, each with its detour; their text is looked at.
Result<SiteList> Installation::choose_wanted(const Stopped& stopped, SessionMemory& memory,
                                             const SiteList& changed) {
  SiteList wanted;
  for (PatchSite* site : changed) {
    if (site->state == SiteState::Disarmed && any_enabled(*site)) {
      DJ_TRY_DO(choose_detour(memory, *site));
      wanted.push_back(site);
    }
  }
  check_text(stopped, wanted);
  return wanted;
}

// One thread stands.
Status Installation::switch_live(Stopped& stopped, SessionMemory& memory, const SiteList& changed) {
  std::string damage;
  DJ_TRY_DO(restore_live(stopped, changed, damage));
  DJ_TRY(SiteList wanted, choose_wanted(stopped, memory, changed));
  DJ_TRY_DO(journal_->enter(wanted));
  DJ_TRY_DO(write_live(stopped, wanted));
  return damage.empty() ? ok_status() : Status(Error{damage});
}

Status Installation::switch_handlers(Stopped& stopped, SessionMemory& memory,
                                     const std::set<HandlerAt>& handlers, bool on) {
  const bool live = switches_live(handlers);
  const SiteList changed = switch_sites(patches_.sites, handlers, on);
  if (live) {
    return switch_live(stopped, memory, changed);
  }
  DJ_TRY_DO(find_gone(stopped, changed, modules_));
  std::string damage;
  DJ_TRY_DO(restore_sites(stopped, changed, damage));
  DJ_TRY(SiteList wanted, choose_wanted(stopped, memory, changed));
  Detouring detouring;
  for (const PatchSite* site : wanted) {
    if (site->state == SiteState::Disarmed) {
      detouring.add(*site);
    }
  }
  DJ_TRY(MoveCounts moved, move_threads(stopped, detouring, restorers_, false));
  static_cast<void>(moved);
  DJ_TRY_DO(journal_->enter(wanted));
  DJ_TRY_DO(write_sites(stopped, wanted));
  return damage.empty() ? ok_status() : Status(Error{damage});
}

}  // namespace dj
