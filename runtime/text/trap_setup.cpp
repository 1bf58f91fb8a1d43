// SPDX-License-Identifier: Apache-2.0
// rt_sigaction in the target, and masks of stopped threads.
#include "runtime/text/trap_setup.h"

#include <signal.h>

#include <algorithm>
#include <optional>

#include "runtime/process/signal_actions.h"
#include "runtime/shared/thread_table.h"
#include "runtime/text/journal.h"
#include "runtime/text/live_text.h"

namespace dj {
namespace {

constexpr uint64_t kSaRestorer = 0x04000000;
constexpr int kSignals = 64;

}  // namespace

std::vector<std::pair<uint64_t, uint64_t>> trap_entries_of(const PatchSite& site) {
  std::vector<std::pair<uint64_t, uint64_t>> entries;
  if (!site.jump || site.live) {
    entries.emplace_back(site.address, site.detour);
  }
  const uint32_t boundaries = site.guards() | (site.live ? live_boundaries(site) : 0);
  if (boundaries == 0) return entries;
  for (auto [offset, copy] : site.copies) {
    if (offset > 0 && offset < 32 && (boundaries >> offset & 1) != 0) {
      entries.emplace_back(site.address + offset, copy);
    }
  }
  return entries;
}

namespace {

// Entries that a site takes: a hot guard may make an int3 of it.
size_t entries_taken(const PatchSite& site) {
  if (site.state != SiteState::Registered) return 0;
  return trap_entries_of(site).size() + (site.guards() != 0 ? 1 : 0);
}

}  // namespace

size_t sites_with_room(const TrapRoom& room, const SiteList& sites) {
  uint64_t wanted = 0;
  for (size_t i = 0; i < sites.size(); i++) {
    wanted += entries_taken(*sites[i]);
    if (abi::trap_table_bytes(wanted, room.dlopened) > room.bytes) return i;
  }
  return sites.size();
}

void fill_trap_table(const TrapRoom& room, const SiteList& sites) {
  uint64_t wanted = 0;
  for (const PatchSite* site : sites) wanted += entries_taken(*site);
  CHECK(abi::trap_table_bytes(wanted, room.dlopened) <= room.bytes);
  abi::TrapTable& table = *reinterpret_cast<abi::TrapTable*>(room.view);
  abi::trap_table_init(&table, room.data - room.arena, wanted, room.dlopened);
  for (const PatchSite* site : sites) {
    if (site->state != SiteState::Registered) continue;
    for (auto [address, detour] : trap_entries_of(*site))
      CHECK(abi::trap_table_insert(&table, &table.begin, address, detour));
  }
}

Status TrapSetup::install(Stopped& stopped, Journal& journal) {
  DJ_TRY(RemoteCall call, RemoteCall::borrow(stopped));
  std::optional<abi::AppAction> known;
  if (stopped.is_fresh()) known = action_at_begin(stopped.pid(), SIGTRAP);
  DJ_TRY(const abi::AppAction app, known ? *known : get_action(call, SIGTRAP));
  DJ_TRY_DO(stopped.write(threads_ + offsetof(abi::ThreadTable, own_trap),
                          {reinterpret_cast<const uint8_t*>(&app), sizeof app}));
  journal.enter_trap(table_, handler_);
  installed_ = true;
  const uint64_t flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART | kSaRestorer;
  const abi::AppAction ours = {handler_, flags, restorer_, ~uint64_t{0}};
  if (!set_action_at_begin(call, SIGTRAP, ours)) DJ_TRY_DO(set_action(call, SIGTRAP, ours));
  DJ_TRY_DO(clear_action_masks(call, journal));
  DJ_TRY_DO(call.give_back());
  for (pid_t tid : stopped.threads()) {
    DJ_TRY(uint64_t mask, stopped.signal_mask(tid));
    if ((mask & kTrapBit) != 0) {
      journal.enter_blocked(tid);
      before_.blocked.push_back(tid);
      DJ_TRY_DO(stopped.set_signal_mask(tid, mask & ~kTrapBit));
    }
  }
  return ok_status();
}

// A handler of another signal may itself hit an int3, so it must not run with SIGTRAP blocked.
Status TrapSetup::clear_action_masks(RemoteCall& call, Journal& journal) {
  const uint64_t caught = caught_signals(call.stopped());
  for (int signal = 1; signal <= kSignals; signal++) {
    if (signal == SIGTRAP || (caught >> (signal - 1) & 1) == 0) {
      continue;
    }
    DJ_TRY(abi::AppAction action, get_action(call, signal));
    if (has_handler(action) && (action.mask & kTrapBit) != 0) {
      journal.enter_mask(signal, action.handler);
      before_.masks.emplace_back(signal, action.handler);
      action.mask &= ~kTrapBit;
      DJ_TRY_DO(set_action(call, signal, action));
    }
  }
  return ok_status();
}

Status TrapSetup::remove(Stopped& stopped) {
  DJ_TRY(before_.app, own_trap_action(stopped, threads_));
  installed_ = false;
  return give_back_trap(stopped, handler_, before_);
}

Result<abi::AppAction> own_trap_action(const Stopped& stopped, uint64_t threads) {
  abi::AppAction app = {};
  DJ_TRY_DO(stopped.read(threads + offsetof(abi::ThreadTable, own_trap),
                         {reinterpret_cast<uint8_t*>(&app), sizeof app}));
  return app;
}

Status give_back_trap(Stopped& stopped, uint64_t handler, const TrapBefore& before) {
  DJ_TRY(RemoteCall call, RemoteCall::borrow(stopped));
  DJ_TRY(abi::AppAction now, get_action(call, SIGTRAP));
  if (now.handler == handler) {
    DJ_TRY_DO(set_action(call, SIGTRAP, before.app));
  }
  for (auto [signal, owner] : before.masks) {
    DJ_TRY(abi::AppAction action, get_action(call, signal));
    if (action.handler == owner) {  // else the program has set another one since
      action.mask |= kTrapBit;
      DJ_TRY_DO(set_action(call, signal, action));
    }
  }
  DJ_TRY_DO(call.give_back());
  for (pid_t tid : stopped.threads()) {
    if (std::find(before.blocked.begin(), before.blocked.end(), tid) != before.blocked.end()) {
      DJ_TRY(uint64_t mask, stopped.signal_mask(tid));
      DJ_TRY_DO(stopped.set_signal_mask(tid, mask | kTrapBit));
    }
  }
  return ok_status();
}

}  // namespace dj
