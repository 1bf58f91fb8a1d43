// SPDX-License-Identifier: Apache-2.0
// Arming and disarming. All threads are stopped while text changes, and the order is such that
// djtap may be killed between any two steps: detours are complete before threads are moved into
// them, threads are moved before bytes change, hooks stand before the SIGTRAP action, and that
// before the first int3. Removal is the same way back.
#include "runtime/install/install.h"

#include <algorithm>

#include "compiler/base/parallel.h"
#include "compiler/stages/samples.h"
#include "runtime/memory/stubs.h"
#include "runtime/patch/kept_detours.h"
#include "runtime/patch/kept_files.h"
#include "runtime/process/os_error.h"
#include "runtime/process/remote_call.h"
#include "runtime/process/signal_actions.h"
#include "runtime/shared/own_code.h"
#include "runtime/shared/trap.h"

namespace dj {
Installation Installation::prepare(PatchPlan patches, const InstallInput& input,
                                   ModuleCodes& codes) {
  const uint64_t begin = now_ns();
  const auto& [plan, layout, abis, modules, first_module, pid, switched, shares_trap] = input;
  Installation made;
  made.patches_ = std::move(patches);
  made.modules_ = modules;
  made.abis_ = abis;
  made.header_ = layout.header;
  made.switching_.is_wanted = switched;
  made.traps_ = Traps(layout, shares_trap);
  made.samples_ = std::any_of(plan.host_probes.begin(), plan.host_probes.end(),
                              [&](const HostProbe& probe) { return is_sample(plan, probe); });
  if (!switched && !made.patches_.live) {
    made.words_ = CallWords(modules, first_module, pid, made.patches_.sites);
  }
  if (!switched) made.cache_ = DetourCache(made.patches_.key, abis, modules, codes.kept_files());
  made.restorers_ = find_restorers(modules, codes);
  made.forget_modules(first_module);
  made.times_.prepare_ns = now_ns() - begin;
  return made;
}

// Those before this one have no place of it.
void Installation::forget_modules(size_t first) {
  modules_.erase(modules_.begin(), modules_.begin() + static_cast<long>(first));
  for (const SiteList& places : {all_places(), all_others()}) {
    for (PatchSite* place : places) place->module -= static_cast<uint32_t>(first);
  }
}

void Installation::count_by_calls() {
  for (HandlerAbi& abi : abis_) {
    if (abi.count_word == 0) continue;
    abi.count_word = 0;
    cache_ = {};  // its detours count in rows
  }
}

void Installation::keep_detours(ModuleCodes& codes) const {
  if (!cache_.wants_detours()) return;
  const auto view = [&](uint64_t address, uint64_t count) {
    return detours_->areas().view(address, count);
  };
  const auto entry = [&](const PatchSite& site, const PatchCall& call) {
    return detours_->entry(site, call);
  };
  codes.keep(cache_.name(), cache_.key(),
             pack_detours(patches_.sites, modules_, view, entry,
                          [&](const PatchSite& site) { return detours_->note_of(site); }));
}

std::vector<AddressRange> Installation::island_modules() const {
  std::vector<bool> used(modules_.size());
  for (size_t i = 0; i < modules_.size() && samples_; i++) {
    used[i] = modules_[i].is_executable_file && !modules_[i].partial;
  }
  for (const std::vector<PatchSite>* sites : {&patches_.sites, &patches_.hooks}) {
    for (const PatchSite& site : *sites) {
      if (site.state == SiteState::Registered) {
        used[site.module] = true;
      }
    }
  }
  std::vector<AddressRange> ranges;
  for (size_t i = 0; i < used.size(); i++) {
    if (used[i]) {
      ranges.push_back({modules_[i].begin, modules_[i].end});
    }
  }
  return ranges;
}

uint64_t Installation::detour_bytes() {
  uint64_t bytes = 4096;
  for (const PatchSite& site : patches_.hooks) {
    bytes += detour_room(site, abis_);
  }
  for (const PatchSite& site : patches_.sites) {
    const uint64_t detours =
        site.form ? 2 : 1;  // another for the int3 that a hot guard makes of it
    if (site.state != SiteState::Registered) continue;
    bytes += detours * detour_room(site, abis_) + (detours - 1) * IslandNotes::kLateBytes;
  }
  if (switching_.is_wanted) bytes += slot_bytes(all_places());
  return bytes + IslandNotes::bytes_for(bytes, patches_.sites.size());
}

// Most sites have no guards.
uint64_t Installation::led_jumps_room() const {
  const auto guarded = [](const PatchSite& site) { return site.form != nullptr; };
  const auto sites = std::count_if(patches_.sites.begin(), patches_.sites.end(), guarded);
  return std::min<uint64_t>(4 * static_cast<uint64_t>(sites), LedJumps::kMost);
}

uint64_t Installation::journal_bytes() {
  return Journal::bytes_for(all_sites()) + Journal::bytes_for(all_hooks()) +
         Journal::bytes_for(words_.all()) + led_jumps_room() * sizeof(JournalRecord) +
         Journal::bytes_for_calls(words_.words_seen());
}

ChooseStubs Installation::stub_chooser() {
  return [this](std::vector<AddressRange> free, uint64_t most, const auto& islands) {
    StubSpace space(std::move(free), most);
    choose_stubs(all_sites(), space, islands);
    return space.shared_pages(&bytes_.stubs);
  };
}

namespace {

// A file that is mapped twice has two biases and one SiteInfo: static variables are then those of
// the place that is added first.
class SiteBiases {
 public:
  explicit SiteBiases(const abi::Header& header)
      : infos_(reinterpret_cast<abi::SiteInfo*>(header.sites)), known_(header.site_count) {}
  void add(const PatchSite& site, uint64_t bias) {
    for (SiteId id : site.owners) {
      if (infos_ == nullptr || known_[id]) continue;
      infos_[id].bias = bias;
      known_[id] = true;
    }
  }

 private:
  abi::SiteInfo* infos_;  // null: there are none
  std::vector<bool> known_;
};

}  // namespace

Status Installation::build_detours() {
  SiteBiases biases(header_);
  for (PatchSite& hook : patches_.hooks) {
    Status built = detours_->build(hook, abis_);
    if (!built.ok()) {
      return Error{"cannot hook a system call of " + modules_[hook.module].path + ": " +
                   built.error().message};
    }
  }
  bool all = true;
  for (size_t i = 0; i < patches_.sites.size(); i++) {
    PatchSite& site = patches_.sites[i];
    biases.add(site, modules_[site.module].bias);
    if (site.traps()) trapping_.push_back(i);
    for (uint32_t at = 0, others = site.leans_on(); others >> at != 0; at++) {
      if ((others >> at & 1) != 0) switching_.leaning.insert({site.address, site.address + at});
    }
    if (site.state != SiteState::Registered) {
      continue;
    }
    const std::optional<KeptDetour> kept = cache_.find(site);
    if (kept && detours_->build_kept(site, *kept, modules_[site.module].bias).ok()) {
      continue;
    }
    Status built = detours_->build(site, abis_);
    if (!built.ok()) {
      site.skip(built.error().message);
      all = false;
    }
  }
  for (const PatchSite& hook : patches_.hooks) biases.add(hook, modules_[hook.module].bias);
  if (!all) skip_dependents("a site that it needs has no detour");
  return ok_status();
}

void Installation::make_trap_table(const SessionMemory& memory) {
  uint64_t handler = detours_->symbol("dj_trap_handler"),
           restorer = detours_->symbol("dj_restorer");
  CHECK(handler != 0 && restorer != 0);
  const TrapRoom& room = traps_.room();
  SiteList trapping;
  for (size_t i : trapping_) trapping.push_back(&patches_.sites[i]);
  if (patches_.live && sites_with_room(room, all_sites()) == patches_.sites.size()) {
    trapping = all_sites();
  } else {
    for (PatchSite& site : patches_.sites) site.live = false;  // fewer traps if all threads stand
  }
  const size_t fit = sites_with_room(room, trapping);
  for (size_t i = fit; i < trapping.size(); i++) {
    if (trapping[i]->state == SiteState::Registered) trapping[i]->skip(kNoTrapRoom);
  }
  if (fit < trapping.size()) skip_dependents(kNoTrapRoom);
  traps_.fill(memory, trapping, handler, restorer);
}

Status Installation::place(SessionMemory& memory, uint64_t code_bytes, const LinkCode& link) {
  uint64_t begin = now_ns();
  DJ_TRY(Detours linked, Detours::link_all(memory.take_code(), code_bytes, link));
  detours_.emplace(std::move(linked));
  journal_.emplace(memory.journal(), words_.words_seen());
  times_.link_ns = now_ns() - begin;
  begin = now_ns();
  DJ_TRY_DO(detours_->give_notes());
  const uint64_t left = detours_->areas().bytes_left();
  if (switching_.is_wanted) {
    DJ_TRY_DO(detours_->give_slots(all_places()));
  }
  DJ_TRY_DO(build_detours());
  cache_.close();
  // The first installation of a session has the arena.
  auto* header = reinterpret_cast<abi::Header*>(memory.arena_base());
  DJ_TRY_DO(
      detours_->finish_notes(memory.arena().empty() ? &header->own_code_later : &header->own_code));
  words_.aim(patches_.sites);
  find_gates(memory);
  find_live_sites();
  if (patches_.needs_trap()) {
    traps_.is_shared() ? share_trap_table() : make_trap_table(memory);
  }
  bytes_.detours = left - detours_->areas().bytes_left();
  bytes_.detours += IslandNotes::index_bytes(bytes_.detours);
  times_.detours_ns = now_ns() - begin;
  return ok_status();
}

Result<uint64_t> Installation::place_sample(HandlerId handler, SiteId site, uint64_t done) {
  return detours_->write_sample(handler, site, abis_[handler], done);
}

// Only where rt_sigaction is hooked: else the program would see them. The first installation of a
// session has them.
void Installation::find_gates(const SessionMemory& memory) {
  if (memory.arena().empty() || patches_.hooks.empty()) return;
  gates_ = {memory.threads() + offsetof(abi::ThreadTable, faults),
            detours_->symbol("dj_fault_gates")};
}

void Installation::stage_text(Staged& staged, const SiteList& hooks, const SiteList& still) {
  staged.detouring = {};
  staged.detouring.add_waiting(hooks);
  staged.detouring.add_waiting(still);
  staged.hooks = patches_of(hooks);
  staged.sites = patches_of(still);
  staged.words = patches_of(words_.all());
}

Status Installation::stage_journal(const SiteList& hooks, const SiteList& sites) {
  journal_->unstage();
  DJ_TRY_DO(journal_->stage(hooks));
  DJ_TRY_DO(journal_->stage(sites));
  return journal_->stage(words_.all());
}

Status Installation::stage(Staged& staged) {
  const SiteList hooks = all_hooks(), sites = all_sites(), still = live_ones(sites, false);
  staged.live = patches_.live;
  Status journaled = ok_status();
  parallel<1>(2, [&](size_t i) {
    if (i == 0) {
      journaled = stage_journal(hooks, sites);
    } else {
      stage_text(staged, hooks, still);
    }
  });
  return journaled;
}

void Installation::copy_ahead(pid_t pid) {
  copying_ = std::make_unique<PageCopying>(pid, bytes_of_pages(all_places()));
}

Status Installation::ready(pid_t pid) {
  if (!copying_) copy_ahead(pid);
  staged_.emplace(Staged{TextImage({}), TextImage(words_.all()), {}, {}, {}, {}, false});
  Status staged = ok_status();
  parallel<1>(2, [&](size_t i) {
    if (i == 0) {
      staged = stage(*staged_);
    } else {
      staged_->text = TextImage(all_sites(), all_hooks());
    }
  });
  DJ_TRY_DO(staged);
  times_.copies = copying_->finish();
  copying_.reset();
  return ok_status();
}

void Installation::skip_dependents(const std::string& reason) {
  for (PatchSite* site : partners(all_sites())) {
    if (site->state == SiteState::Registered) site->skip(reason);
  }
  for (PatchSite* site : without_support(all_sites())) site->skip(reason);
}

// Sites that cannot be are Skipped; `staged` is what remains.
Status Installation::check_all(Stopped& stopped, Staged& staged, uint64_t denied) {
  const SiteList sites = all_sites(), hooks = all_hooks();
  staged.text.read(stopped);
  check_text(staged.text, hooks);
  const bool differ = check_text(staged.text, sites);
  if (differ) skip_dependents("text differs from the file nearby");
  bool refused = false;
  if (!traps_.is_shared()) {
    DJ_TRY(refused, refuse_traps(stopped, denied));
  }
  for (const PatchSite* hook : hooks) {
    if (hook->state != SiteState::Registered) {
      return Error{"process " + std::to_string(stopped.pid()) + " has been patched already (" +
                   modules_[hook->module].path +
                   " differs from its file): by another tool, or by a djtap that runs or "
                   "was killed"};
    }
  }
  words_.follow(patches_.sites);
  staged.got.read(stopped);
  const bool stale = check_text(staged.got, words_.all());
  const bool same = !stale && !differ && !refused && patches_.live == staged.live;
  return same ? ok_status() : stage(staged);
}

Status Installation::arm(Stopped& stopped, uint64_t denied) {
  uint64_t begin = now_ns();
  if (!staged_) {
    DJ_TRY_DO(ready(stopped.pid()));
  }
  Staged staged = std::move(*staged_);
  staged_.reset();
  DJ_TRY_DO(check_all(stopped, staged, denied));
  const SiteList sites = all_sites(), hooks = all_hooks();
  const SiteList still = live_ones(sites, false), live = live_ones(sites, true);
  const bool trap = patches_.needs_trap() && !traps_.is_shared();
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
    written = write_sites(stopped, staged.got, words_.all(), staged.words);
  }
  times_.patch_ns = now_ns() - begin;
  if (written.ok() && !live.empty()) {
    written = write_live(stopped, live);
    if (!written.ok() && written.error().kind == Fail::Unsupported) {
      written = write_stopped(stopped, live);
    }
  }
  for (size_t i : trapping_) {
    if (patches_.sites[i].guards() != 0) {
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
  const SiteList sites = all_sites(), hooks = all_hooks(), live = live_ones(sites, true);
  if (std::any_of(live.begin(), live.end(), [](auto* s) { return s->armed(); })) {
    DJ_TRY(pid_t keep, RemoteCall::best_thread(stopped));
    stopped.release_others(keep);
    DJ_TRY_DO(restore_live(stopped, live, damage));
    DJ_TRY_DO(stopped.stop_others());
  }
  if (has_trap()) {
    DJ_TRY_DO(traps_.take_back(stopped));
  }
  DJ_TRY_DO(find_gone(stopped, sites, modules_));
  DJ_TRY_DO(find_gone(stopped, hooks, modules_));
  const SiteList others = all_others();
  DJ_TRY_DO(find_gone(stopped, others, modules_));
  DJ_TRY_DO(straight_calls_.restore(stopped, modules_, damage));
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
