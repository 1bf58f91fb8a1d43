// SPDX-License-Identifier: Apache-2.0
// Arming and disarming. All threads are stopped while text changes, and the order is such that
// djtap may be killed between any two steps: detours are complete before threads are moved into
// them, threads are moved before bytes change, hooks stand before the SIGTRAP action, and that
// before the first int3. Removal is the same way back.
#include "runtime/install/install.h"

#include <algorithm>

#include "compiler/base/parallel.h"
#include "runtime/process/os_error.h"
#include "runtime/process/remote_call.h"
#include "runtime/process/signal_actions.h"
#include "runtime/shared/trap.h"

namespace dj {

Installation Installation::prepare(const DetourPlan& plan, const std::vector<MappedModule>& modules,
                                   const Traps& traps, pid_t pid, ModuleCodes& codes) {
  const uint64_t begin = now_ns();
  Installation made;
  made.traps_ = traps;
  if (!plan.switched && !plan.patches.live) {
    made.led_.words = GotSlots(plan.modules, pid, plan.patches.sites);
  }
  made.restorers_ = find_restorers(modules, codes);
  made.times_.prepare_ns = now_ns() - begin;
  return made;
}

// Most sites have no guards.
uint64_t Installation::led_jumps_room(const DetourPlan& plan) const {
  const auto guarded = [](const PatchSite& site) { return site.form != nullptr; };
  const auto sites = std::ranges::count_if(plan.patches.sites, guarded);
  return std::min<uint64_t>(4 * static_cast<uint64_t>(sites), LedJumps::kMost);
}

uint64_t Installation::journal_bytes(DetourPlan& plan) {
  return Journal::bytes_for(plan.places()) + Journal::bytes_for(led_.words.all()) +
         led_jumps_room(plan) * sizeof(JournalRecord) +
         Journal::bytes_for_calls(led_.words.words_seen());
}

void Installation::make_trap_table(const SessionMemory& memory) {
  uint64_t handler = detours_->writer.symbol("dj_trap_handler"),
           restorer = detours_->writer.symbol("dj_restorer");
  CHECK(handler != 0 && restorer != 0);
  const TrapRoom& room = traps_.room();
  SiteList trapping;
  for (size_t i : trapping_) trapping.push_back(&patches().sites[i]);
  if (patches().live && sites_with_room(room, detours_->sites()) == patches().sites.size()) {
    trapping = detours_->sites();
  } else {
    for (PatchSite& site : patches().sites) site.live = false;  // fewer traps if all threads stand
  }
  const size_t fit = sites_with_room(room, trapping);
  for (size_t i = fit; i < trapping.size(); i++) {
    if (trapping[i]->state == SiteState::Registered) trapping[i]->skip(kNoTrapRoom);
  }
  if (fit < trapping.size()) detours_->skip_dependents(kNoTrapRoom);
  traps_.fill(memory, trapping, handler, restorer);
}

void Installation::place(Detours detours, SessionMemory& memory) {
  const uint64_t begin = now_ns();
  detours_.emplace(std::move(detours));
  switches_ = Switches(*detours_);
  for (size_t i = 0; i < patches().sites.size(); i++) {
    if (patches().sites[i].traps()) trapping_.push_back(i);
  }
  journal_.emplace(memory.journal(), led_.words.words_seen());
  led_.words.aim(patches().sites);
  find_gates(memory);
  find_live_sites();
  if (patches().needs_trap()) {
    traps_.is_shared() ? share_trap_table() : make_trap_table(memory);
  }
  times_.link_ns = detours_->link_ns;
  times_.detours_ns = detours_->build_ns + now_ns() - begin;
}

// Only where rt_sigaction is hooked: else the program would see them. The first installation of a
// session has them.
void Installation::find_gates(const SessionMemory& memory) {
  if (memory.arena().empty() || patches().hooks.empty()) return;
  gates_ = {memory.threads() + offsetof(abi::ThreadTable, faults),
            detours_->writer.symbol("dj_fault_gates")};
}

void Installation::stage_text(Staged& staged, const SiteList& hooks, const SiteList& still) {
  staged.detouring = {};
  staged.detouring.add_waiting(hooks);
  staged.detouring.add_waiting(still);
  staged.hooks = patches_of(hooks);
  staged.sites = patches_of(still);
  staged.words = patches_of(led_.words.all());
}

Status Installation::stage_journal(const SiteList& hooks, const SiteList& sites) {
  journal_->unstage();
  DJ_TRY_DO(journal_->stage(hooks));
  DJ_TRY_DO(journal_->stage(sites));
  return journal_->stage(led_.words.all());
}

Status Installation::stage(Staged& staged) {
  const SiteList hooks = detours_->hooks(), sites = detours_->sites(),
                 still = live_ones(sites, false);
  staged.live = patches().live;
  Status journaled = ok_status();
  both(
      sites.size(), [&] { journaled = stage_journal(hooks, sites); },
      [&] { stage_text(staged, hooks, still); });
  return journaled;
}

void Installation::copy_ahead(pid_t pid, DetourPlan& plan, bool stands) {
  std::vector<uint64_t> bytes = bytes_of_pages(plan.places());
  if (!stands || PageCopying::has_thread_for(bytes.size()))
    ahead_.copying = std::make_unique<PageCopying>(pid, std::move(bytes));
}

void Installation::pause_copies() {
  if (ahead_.copying) ahead_.copying->pause();
}

void Installation::go_on_with_copies() {
  if (ahead_.copying) ahead_.copying->go_on();
}

Status Installation::ready() {
  ahead_.staged.emplace(Staged{TextImage({}), TextImage(led_.words.all()), {}, {}, {}, {}, false});
  Status staged = ok_status();
  both(
      patches().sites.size(), [&] { staged = stage(*ahead_.staged); },
      [&] { ahead_.staged->text = TextImage(detours_->sites(), detours_->hooks()); });
  if (!staged.ok()) return staged;
  if (!ahead_.copying) return ok_status();
  const PageCopies copies = ahead_.copying->finish();
  times_.copied_pages = copies.pages;
  times_.copy_ns = copies.ns;
  ahead_.copying.reset();
  return ok_status();
}

// Sites that cannot be are Skipped; `staged` is what remains.
Status Installation::check_all(Stopped& stopped, Staged& staged, uint64_t denied) {
  const SiteList sites = detours_->sites(), hooks = detours_->hooks();
  staged.text.read(stopped);
  check_text(staged.text, hooks);
  const bool differ = check_text(staged.text, sites);
  if (differ) detours_->skip_dependents("text differs from the file nearby");
  bool refused = false;
  if (!traps_.is_shared()) {
    DJ_TRY(refused, refuse_traps(stopped, denied));
  }
  for (const PatchSite* hook : hooks) {
    if (hook->state != SiteState::Registered) {
      return Error{"process " + std::to_string(stopped.pid()) + " has been patched already (" +
                   modules()[hook->module].path +
                   " differs from its file): by another tool, or by a djtap that runs or "
                   "was killed"};
    }
  }
  led_.words.follow(patches().sites);
  staged.got.read(stopped);
  const bool stale = check_text(staged.got, led_.words.all());
  const bool same = !stale && !differ && !refused && patches().live == staged.live;
  return same ? ok_status() : stage(staged);
}

Status Installation::arm(Stopped& stopped, uint64_t denied) {
  uint64_t begin = now_ns();
  if (!ahead_.staged) DJ_TRY_DO(ready());
  Staged staged = std::move(*ahead_.staged);
  ahead_.staged.reset();
  DJ_TRY_DO(check_all(stopped, staged, denied));
  const SiteList sites = detours_->sites(), hooks = detours_->hooks();
  const SiteList still = live_ones(sites, false), live = live_ones(sites, true);
  const bool trap = patches().needs_trap() && !traps_.is_shared();
  if (traps_.is_shared()) {
    journal_->enter_trap(traps_.room().table,
                         0);  // for those who hit an int3; the action is another's
  }
  DJ_TRY(MoveCounts moved, move_threads(stopped, staged.detouring, restorers_, trap));
  static_cast<void>(moved);
  times_.move_ns = now_ns() - begin;
  begin = now_ns();
  journal_->commit();
  Status written = write_sites(stopped, staged.text, hooks, staged.hooks);
  if (written.ok() && trap) {
    written = traps_.install(stopped, *journal_);
  }
  if (written.ok() && gates_.at != 0) {
    journal_->enter_gates(gates_.at);
    written = enter_gates(stopped, gates_.at, gates_.code, has_trap());
  }
  if (written.ok()) {
    written = write_sites(stopped, staged.text, still, staged.sites);
  }
  if (written.ok()) {
    written = write_sites(stopped, staged.got, led_.words.all(), staged.words);
  }
  times_.patch_ns = now_ns() - begin;
  if (written.ok() && !live.empty()) {
    written = write_live(stopped, live);
    if (!written.ok() && written.error().kind == Fail::Unsupported) {
      written = write_stopped(stopped, live);
    }
  }
  for (size_t i : trapping_) {
    if (patches().sites[i].guards() != 0) {
      guards_.begin(i);
    }
  }
  if (!written.ok()) {
    Status undone = disarm(stopped);
    return undone.ok() ? written : undone;
  }
  return ok_status();
}

Status Installation::disarm(Stopped& stopped) {
  std::string damage;
  const SiteList sites = detours_->sites(), hooks = detours_->hooks(),
                 live = live_ones(sites, true);
  if (std::any_of(live.begin(), live.end(), [](auto* s) { return s->armed(); })) {
    DJ_TRY(pid_t keep, RemoteCall::best_thread(stopped));
    stopped.release_others(keep);
    DJ_TRY_DO(restore_live(stopped, live, damage));
    DJ_TRY_DO(stopped.stop_others());
  }
  if (has_trap()) {
    DJ_TRY_DO(traps_.take_back(stopped));
  }
  DJ_TRY_DO(find_gone(stopped, sites, modules()));
  DJ_TRY_DO(find_gone(stopped, hooks, modules()));
  const SiteList others = all_others();
  DJ_TRY_DO(find_gone(stopped, others, modules()));
  DJ_TRY_DO(led_.calls.restore(stopped, modules(), damage));
  DJ_TRY_DO(restore_sites(stopped, others, damage));
  DJ_TRY_DO(restore_sites(stopped, sites, damage));
  // The gates first: SIGTRAP goes back into the masks of the handlers that it knows.
  if (gates_.at != 0) {
    DJ_TRY_DO(leave_gates(stopped, gates_.at));
  }
  if (traps_.is_installed()) {
    DJ_TRY_DO(traps_.remove(stopped));
  }
  DJ_TRY_DO(restore_sites(stopped, hooks, damage));
  return damage.empty() ? ok_status() : Status(Error{damage});
}

void Installation::finish(pid_t pid) {
  if (journal_) journal_->finish(pid);
}

}  // namespace dj
