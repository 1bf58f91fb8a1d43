// SPDX-License-Identifier: Apache-2.0
// A guard byte where many threads arrive (a loop's head, a function that jumps into another one)
// costs a trap each time. While the program runs, such a site gets a form of the jump without
// guards, which was not its first choice because its stub needs a page of its own. Where it has no
// such form, the jumps that arrive there are led to its detour (led_jumps.h). Where that is not
// all, hits and arrivals are counted for a moment. An int3 traps once a hit: that is less than once
// a round of a loop, but more where one function jumps into another that is called more often.
#include <sys/mman.h>
#include <sys/syscall.h>

#include <utility>

#include "runtime/detours/stubs.h"
#include "runtime/install/install.h"
#include "runtime/memory/address_space.h"
#include "runtime/process/process.h"
#include "runtime/process/remote_call.h"

namespace dj {
namespace {

// Null: there is none. It displaces nothing that the armed form did not: in the middle of that no
// thread stands.
const arch::Placement* without_guards(const JumpForm& form) {
  if (form.region.overlap != 0 || form.region.fixed_bytes.set) return nullptr;
  for (const arch::Placement& placement : form.placements) {
    if (placement.guards == 0 && placement.length <= form.placement.length) return &placement;
  }
  return nullptr;
}

// Maps a page for a stub that this jump can lead to, and the code area's code too. The session's
// memory has none: the page is the process's own, and stays.
Result<uint64_t> map_stub(Stopped& stopped, const arch::Placement& placement,
                          const CodeArea& area) {
  DJ_TRY(std::vector<Mapping> maps, read_maps(stopped.pid()));
  StubSpace space(free_ranges(maps, {}, heap_begin(stopped.pid())), mappings_left(maps.size()));
  std::optional<uint64_t> stub =
      space.reserve({placement.jump, placement.value, placement.mask}, {area.base(), area.end()});
  if (!stub) return Error{"no free address"};
  DJ_TRY(RemoteCall call, RemoteCall::borrow(stopped));
  for (const AddressRange& pages : space.pages()) {
    DJ_TRY_DO(call.checked("mmap of a stub", SYS_mmap,
                           {pages.begin, pages.end - pages.begin, PROT_READ | PROT_EXEC,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, ~uint64_t{0}, 0}));
  }
  DJ_TRY_DO(call.give_back());
  return *stub;
}

// The first bytes of these jumps become int3 that lead to their detours, too. Legal as it is a
// state on the way to a jump, which restore_sites() knows.
Status write_hit_counters(const Stopped& stopped, TextImage& text, const SiteList& sites) {
  std::vector<TextPatch> patches;
  for (PatchSite* site : sites) {
    if (site->state != SiteState::Optimized) continue;
    patches.push_back({site->address, {arch::kInt3}});
  }
  DJ_TRY_DO(text.write(stopped, patches));
  for (PatchSite* site : sites) {
    if (site->state == SiteState::Optimized) set_state(*site, SiteState::Int3, "hits are counted");
  }
  return ok_status();
}

}  // namespace

Status Installation::drop_guards(Stopped& stopped, PatchSite& site) {
  const arch::Placement* wanted = site.form ? without_guards(*site.form) : nullptr;
  const CodeAreas& areas = detours_->writer.areas();
  const std::optional<size_t> area = areas.index_near(site.address);
  if (wanted == nullptr || !area) return Error{"no form without guards"};
  DJ_TRY(uint64_t stub, map_stub(stopped, *wanted, areas.area(*area)));
  PatchSite jump = site;
  jump.form = std::make_shared<JumpForm>(*site.form);
  jump.form->placement = *wanted;
  jump.form->stub = stub;
  jump.displaced = wanted->length;
  jump.reason = arch::tactic_name(wanted->tactic);
  DJ_TRY_DO(detours_->writer.build_detour(jump, detours_->plan.abis));
  DJ_TRY(std::vector<uint8_t> bytes, arch::encode_jump(stub, jump.detour));
  DJ_TRY_DO(stopped.write(stub, bytes));
  site = std::move(jump);
  return ok_status();
}

std::vector<size_t> Installation::hot_guards(uint64_t limit) {
  return guards_.hot(patches().sites, traps_, limit);
}

Status Installation::make_int3(PatchSite& site) {
  site.fall_back_to_int3("hot-guard");
  DJ_TRY_DO(detours_->writer.build(site, detours_->plan.abis));
  if (!traps_.insert(site.address, site.detour))
    return Error{"the look-up table of int3 sites is full"};
  return ok_status();
}

Status Installation::cool_guards(Stopped& stopped, const std::vector<size_t>& hot) {
  SiteList sites, unknown;
  for (size_t index : hot) {
    sites.push_back(&patches().sites[index]);
    guards_.end(index);
  }
  DJ_TRY_DO(find_gone(stopped, sites, modules()));
  std::string damage;
  DJ_TRY_DO(restore_sites(stopped, sites, damage));
  for (size_t index : hot) {
    PatchSite& site = patches().sites[index];
    const std::optional<GuardWatch::Weighing> since = guards_.end_weighing(index);
    if (site.state != SiteState::Disarmed) continue;
    if (since) {
      const GuardWatch::Weighing seen = GuardWatch::weigh(traps_, site, *since);
      if (seen.hits < seen.arrivals) DJ_TRY_DO(make_int3(site));
    } else if (drop_guards(stopped, site).ok()) {
      continue;
    } else if (!led_.jumps.want(index)) {
      if (!traps_.insert(site.address, site.detour))
        return Error{"the look-up table of int3 sites is full"};
      guards_.begin_weighing(index, GuardWatch::weigh(traps_, site));
      unknown.push_back(&site);
    }
  }
  TextImage text(sites);
  text.read(stopped);
  check_text(text, sites);
  DJ_TRY_DO(journal_->enter(sites));
  DJ_TRY_DO(write_sites(stopped, text, sites, patches_of(sites)));
  DJ_TRY_DO(write_hit_counters(stopped, text, unknown));
  return damage.empty() ? ok_status() : Status(Error{damage});
}

bool Installation::look_for_led_jumps(const ReadText& read_text) {
  led_.jumps.look(patches().sites, modules(), read_text);
  return led_.jumps.is_found();
}

// The program may have executed itself anew, at the same addresses: then the site is not there.
Status Installation::lead_jumps(Stopped& stopped, std::vector<size_t>& hot) {
  const LedJumps::Found found = led_.jumps.found(detours_->places());
  if (found.jumps.empty()) {
    hot.push_back(found.site);
    return ok_status();
  }
  PatchSite& site = patches().sites[found.site];
  guards_.begin(found.site, guard_traps(site));
  SiteList all = found.jumps;
  all.push_back(&site);
  TextImage text(all);
  text.read(stopped);
  bool readable = true;
  if (!site.armed() || !text.equals(site.address, site.patched(), &readable)) {
    for (PatchSite* jump : found.jumps) jump->skip("the jump that it arrives in is gone");
    return ok_status();
  }
  check_text(text, found.jumps);
  DJ_TRY_DO(journal_->enter(found.jumps));
  return write_sites(stopped, text, found.jumps, patches_of(found.jumps));
}

}  // namespace dj
