// SPDX-License-Identifier: Apache-2.0
// From candidates to places, for one module.
#include "runtime/patch/planner.h"

#include <algorithm>
#include <set>

#include "compiler/base/sort_runs.h"

namespace dj {
namespace {

const std::string& site_name(const Site& site) {
  return site.symbol.empty() ? site.function : site.symbol;
}

}  // namespace

void Planner::skip_site(SiteId id, std::string reason) {
  PatchSite place;
  place.address = plan_.sites[id].address + module_.bias;
  place.module = static_cast<uint32_t>(index_);
  place.owners = {id};
  if (is_engine_logged()) {
    place.name = site_name(plan_.sites[id]);
  }
  place.skip(std::move(reason));
  out_.sites.push_back(std::move(place));
}

void Planner::add_hook(const arch::Checker::Syscall& call, HookSet set) {
  // The bytes of a `syscall` outside of every function, before which no instruction sets a number,
  // are data.
  const bool data = call.number == -1 && call.region.verdict == arch::Verdict::NotInFunction;
  const bool essential = !data && is_essential(set, call.number);
  if (essential || call.may_be_plain) candidates_.push_back({call.region, 0, true, essential});
}

void Planner::add_exits(SiteId id) {
  const Site& site = plan_.sites[id];
  const arch::Exits& exits = code_->exits(site.function_begin, site.function_end);
  if (!exits.complete) {
    return skip_site(id, "exits unknown (" + exits.reason + ")");
  }
  if (exits.exits.empty()) {
    return skip_site(id, kNeverReturns);
  }
  if (exits.shared && !input_.facts.keeps_calls) {
    return skip_site(id, "shared exits: returns of other functions look like its");
  }
  if (!tails_.any_seen(id, index_, exits)) {
    return skip_site(id, tails_.why_unseen(id));
  }
  for (CallsAt& at : tails_.own_places(id, index_, exits)) {
    candidates_.push_back(
        {at.region, id, false, false, std::move(at.leaving), std::move(at.calls), false});
  }
}

void Planner::add_callee(const TailCalls::Step& step) {
  if (!look().ok()) return;
  for (CallsAt& at : tails_.places(step)) {
    candidates_.push_back(
        {at.region, step.site, false, false, std::move(at.leaving), std::move(at.calls), true});
  }
}

// The module's code, read when first asked for.
Result<ModuleCode*> Planner::look() {
  if (module_.shared) return Error{"mapped shared"};
  if (module_.awaits_relocation) return Error{"text relocations"};
  if (code_ == nullptr) {
    DJ_TRY(code_, codes_.get(module_));
  }
  return code_;
}

void Planner::add_sites(const std::vector<SiteId>& sites) {
  if (!candidates_.empty()) {
    static_cast<void>(look());  // for the hooks
  }
  candidates_.reserve(candidates_.size() + sites.size());
  for (SiteId id : sites) {
    const Site& site = plan_.sites[id];
    if (!has_code(module_, site.address + module_.bias)) continue;
    Result<ModuleCode*> code = look();
    if (!code.ok()) {
      skip_site(id, code.error().message);
    } else if (site.kind == SiteKind::Return) {
      add_exits(id);
    } else if (code_->is_nameless_part(site)) {
      skip_site(id, "a part of another function");
    } else {
      std::vector<PatchCall> calls;
      for (HandlerId h : site.handlers) calls.push_back(body_call(plan_, id, h, false));
      const arch::Region region = site.syscall ? code_->checker->syscall_region(site.address)
                                               : arch::Region{.address = site.address};
      if (Candidate* hook = site.syscall ? hook_at(region) : hook_from(site)) {
        hook->calls.insert(hook->calls.end(), calls.begin(), calls.end());
        hook->owners.push_back(id);
      } else {
        candidates_.push_back({region, id, false, false, {}, std::move(calls), false});
      }
    }
  }
}

void Planner::add_object_hook(uint64_t address) {
  const PatchCall call{.site = ~0u, .handler = ~0u, .kind = PatchCall::Object};
  for (Candidate& c : candidates_) {
    const uint64_t distance = c.region.address - address;
    if (distance > 0 && distance < 5) return;  // a probe there would not be a jump any more
    if (distance != 0 || c.hook) continue;
    if (c.region.probe_address > address && !is_load(*code_, address, c.region.probe_address))
      return;
    c.calls.push_back(call);
    return;
  }
  if (!look().ok()) return;
  candidates_.push_back({{.address = address}, 0, false, false, {}, {call}, true, true});
}

// Returns the hook that can run this place's handlers; null: there is none. The place is the hook's
// `syscall`, or a function's entry where the hook begins with `mov $nr,%eax`, as in execve(): the
// entry's handlers may as well run behind that instruction.
Candidate* Planner::hook_from(const Site& site) {
  constexpr uint64_t kMoveBytes = 5;
  arch::Region region = {.address = site.address, .probe_address = site.address + kMoveBytes};
  if (site.kind == SiteKind::Statement)
    region = {.address = site.address - kMoveBytes, .probe_address = site.address};
  else if (site.kind != SiteKind::Entry)
    return nullptr;
  Candidate* hook = hook_at(region);
  return hook != nullptr && is_plain(*hook) ? hook : nullptr;
}

// The hook of that very system call; null: there is none. Hooks come first.
Candidate* Planner::hook_at(const arch::Region& region) {
  for (auto c = candidates_.begin(); c != candidates_.end() && c->hook; ++c) {
    if (c->region.address == region.address && c->region.probe_address == region.probe_address)
      return &*c;
  }
  return nullptr;
}

// Hooks are plain or none: what Guards::Everywhere adds to them is taken back.
void Planner::bare_hooks(std::vector<arch::Region>& regions) const {
  for (size_t i = 0; i < regions.size(); i++) {
    const bool bare_one = candidates_[i].hook || candidates_[i].object;
    if (!bare_one || regions[i].verdict == arch::Verdict::InsideOtherSite) continue;
    std::vector<arch::Region> bare = {candidates_[i].region};
    code_->checker->check_alone(bare, arch::Guards::WhereNeeded);
    bare[0].room = std::min(bare[0].room, regions[i].room);
    regions[i] = bare[0];
  }
}

bool Planner::check() {
  if (code_ == nullptr || candidates_.empty()) {
    return false;
  }
  std::vector<arch::Region> regions;
  regions.reserve(candidates_.size());
  for (const Candidate& c : candidates_) regions.push_back(c.region);
  // Sites that are written one after the other, while threads run, must not share bytes.
  const bool overlap = input_.options.overlap && !way_.live;
  code_->checker->check(regions, way_.guards,
                        overlap ? arch::Neighbours::Lean : arch::Neighbours::Apart);
  if (way_.guards == arch::Guards::Everywhere) bare_hooks(regions);
  // A probe inside a hook's bytes would turn the hook into an int3: the probe goes, and all begins
  // again.
  std::set<uint64_t> culprits;
  for (size_t i = 0; i < regions.size(); i++) {
    const Candidate& c = candidates_[i];
    if (c.hook && regions[i].verdict == arch::Verdict::InsideOtherSite)
      culprits.insert(regions[i].culprit);
  }
  refuse_writable(module_, regions);
  const size_t erased = std::erase_if(candidates_, [&](const Candidate& c) {
    const bool culprit = !c.hook && culprits.contains(c.region.address);
    if (culprit && !c.object) skip_site(c.site, "inside a system call hook");
    return culprit;
  });
  if (erased > 0) return check();
  bool int3 = false;
  for (size_t i = 0; i < regions.size(); i++) {
    candidates_[i].region = regions[i];
    int3 = int3 || (!candidates_[i].hook && !candidates_[i].object && !is_jump(candidates_[i]) &&
                    !arch::refused(regions[i].verdict));
  }
  std::erase_if(candidates_, [&](const Candidate& c) { return c.object && !is_jump(c); });
  return int3;
}

std::string Planner::missing_hook() const {
  for (const Candidate& c : candidates_) {
    if (c.hook && c.essential && !is_plain(c)) {
      arch::Verdict why =
          c.region.verdict == arch::Verdict::Ok ? c.region.obstacle : c.region.verdict;
      return "a system call in " + module_.path + " cannot be hooked: " + arch::verdict_name(why);
    }
  }
  return "";
}

// Why this candidate cannot be installed; empty: it can.
std::string Planner::problem(const Candidate& c, const std::string& int3_refused) const {
  if (arch::refused(c.region.verdict)) {
    return arch::verdict_name(c.region.verdict);
  }
  return is_jump(c) ? "" : int3_refused;
}

// Runtime addresses.
BoxedOptional<arch::Leaving> Planner::leaving_of(const Candidate& c) const {
  if (c.leaving.how == arch::Leaving::Always) return {};
  arch::Leaving leaving = c.leaving;
  for (arch::FunctionRange& range : leaving.inside) {
    range = {range.begin + module_.bias, range.end + module_.bias};
  }
  return leaving;
}

Result<PatchSite> Planner::make(const Candidate& c) const {
  DJ_TRY(PatchSite place, make_place(*code_, c.region, is_jump(c), module_.bias));
  place.module = static_cast<uint32_t>(index_);
  place.hook = c.hook;
  if (is_engine_logged()) {
    place.name = c.object ? "object-hook" : site_name(plan_.sites[c.site]);
    if (c.hook) place.name = "system-call-hook";
  }
  place.leaving = leaving_of(c);
  return place;
}

// A return probe stands at all exits of its function or at none: else it would miss returns.
void Planner::refuse(const std::string& int3_refused, Refused& refused) const {
  for (const Candidate& c : candidates_) {
    std::string why = c.hook || c.object ? "" : problem(c, int3_refused);
    if (!why.empty()) {
      refused.emplace(c.site, why);
    }
  }
}

// ELF address of the first byte that is patched for it.
uint64_t Planner::place_of(const Candidate& c) const {
  return !is_jump(c) && c.region.probe_address > c.region.address ? c.region.probe_address
                                                                  : c.region.address;
}

// One more Plan site at a known place; takes the candidate's calls.
void Planner::join(PatchSite& place, Candidate& c) const {
  if (!place.leaving && !place.calls.empty()) {
    place.leaving = leaving_of(c);
  }
  if (place.calls.empty()) {
    place.calls = std::move(c.calls);
  } else {
    place.calls.insert(place.calls.end(), c.calls.begin(), c.calls.end());
  }
  if (!c.of_callee) {
    place.owners.push_back(c.site);
  }
}

void Planner::finish(const Refused& refused) {
  for (const auto& [id, why] : refused) {
    if (plan_.modules[plan_.sites[id].module].path == module_.path) {
      skip_site(id, why);
    }
  }
  std::vector<Candidate*> wanted;
  wanted.reserve(candidates_.size());
  for (Candidate& c : candidates_) {
    if (c.object || (c.hook ? is_plain(c) : refused.count(c.site) == 0)) {
      wanted.push_back(&c);
    }
  }
  sort_runs(wanted.begin(), wanted.end(),
            [&](const Candidate* a, const Candidate* b) { return place_of(*a) < place_of(*b); });
  std::vector<std::pair<SiteId, std::string>> failed;
  const size_t others = out_.sites.size();
  for (Candidate* c : wanted) {
    const uint64_t address = place_of(*c) + module_.bias;
    if (!c->hook && out_.sites.size() > others && out_.sites.back().address == address) {
      join(out_.sites.back(), *c);
      continue;
    }
    Result<PatchSite> made = make(*c);
    if (!made.ok()) {
      if (!c->object) failed.emplace_back(c->site, made.error().message);
    } else if (c->hook) {
      out_.hooks.push_back(made.take());
      out_.hooks.back().calls = c->calls;
      out_.hooks.back().owners = c->owners;
    } else {
      out_.sites.push_back(made.take());
      join(out_.sites.back(), *c);
    }
  }
  for (size_t i = others; i < out_.sites.size(); i++) {
    order_calls(out_.sites[i].calls);
  }
  for (auto& [id, why] : failed) skip_site(id, std::move(why));
}

}  // namespace dj
