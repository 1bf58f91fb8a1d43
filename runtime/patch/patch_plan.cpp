// SPDX-License-Identifier: Apache-2.0
// Planning of all patches of a session, module by module.
//
// All regions of a module are checked in one call, hooks first: so the checker sees every
// collision, and it is a probe that gives way to a hook. If a probe turns out to need an int3 the
// second, larger set of hooks is needed, and everything is checked again with it.
#include "runtime/patch/patch_plan.h"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/base/sort_runs.h"
#include "runtime/patch/hooks.h"
#include "runtime/patch/int3_sample.h"
#include "runtime/patch/mapped_sites.h"
#include "runtime/patch/tail_calls.h"
#include "runtime/patch/whole_functions.h"

namespace dj {
namespace {

// One region to check, and what it is for.
struct Candidate {
  arch::Region region;  // ELF addresses
  SiteId site = 0;
  bool hook = false;
  bool essential = false;  // hook: without it the set is useless
  arch::Leaving leaving;   // of an exit, ELF addresses
  std::vector<PatchCall> calls;
  bool of_callee = false;  // not in the probed function: only calls of it lead there
  bool object = false;     // the hook of _dl_find_object(): a plain jump or none
  std::vector<SiteId> owners = {};  // of a hook: whose calls it makes
  bool yields = false;  // a hook that gives way to a probe of its place, or inside its bytes
};

const std::string& site_name(const Site& site) {
  return site.symbol.empty() ? site.function : site.symbol;
}

// A jump of five free bytes. Hooks must be that: they stand before any int3 may.
bool is_plain(const Candidate& c) { return arch::is_plain(c.region); }

// Planner: the patches of one module. Empty `trap_reason`: int3 sites are allowed.
class Planner {
 public:
  Planner(const Plan& plan, const std::vector<MappedModule>& modules, size_t module,
          const PatchOptions& options, PatchPlan& out, ModuleCodes& codes, TailCalls& tails)
      : plan_(plan),
        module_(modules[module]),
        index_(module),
        options_(options),
        out_(out),
        codes_(codes),
        tails_(tails) {}

  void add_hook(const arch::Checker::Syscall& call, HookSet set) {
    // The bytes of a `syscall` in code of nobody, with a number nobody sets, are data.
    bool data = call.number == -1 && call.region.verdict == arch::Verdict::NotInFunction;
    const bool essential = !data && is_essential(set, call.number);
    candidates_.push_back({call.region, 0, true, essential});
    candidates_.back().yields = yields_to_probes(set, call.number);
  }
  void add_sites(const std::vector<SiteId>& sites);  // those of this module
  // The hook of _dl_find_object() at its ELF address, behind what stands there. Behind add_sites().
  void add_object_hook(uint64_t address);
  // Places in a function that may return for a probed one.
  void add_callee(const TailCalls::Step& step);
  // Checks all; true if an int3 is among the probes.
  bool check(arch::Guards guards);
  // An essential hook that cannot be: its reason; else empty.
  std::string missing_hook() const;
  // Sites that cannot be installed, with the reason. int3_refused: why no int3 may be, or empty.
  using Refused = std::map<SiteId, std::string>;
  void refuse(const std::string& int3_refused, Refused& refused) const;
  // Appends all others to the plan.
  void finish(const Refused& refused);

 private:
  void add_exits(SiteId id);
  Candidate* hook_at(const arch::Region& region);
  Candidate* hook_from(const Site& entry);
  void bare_hooks(std::vector<arch::Region>& regions) const;
  void skip_site(SiteId id, std::string reason);
  bool is_jump(const Candidate& c) const {
    const bool bare = c.hook || c.object;
    return c.region.verdict == arch::Verdict::Ok && (bare ? is_plain(c) : options_.optimize);
  }
  std::string problem(const Candidate& c, const std::string& int3_refused) const;
  uint64_t place_of(const Candidate& c) const;
  Rare<arch::Leaving> leaving_of(const Candidate& c) const;
  void join(PatchSite& place, Candidate& c) const;
  Result<PatchSite> make(const Candidate& c) const;
  Result<ModuleCode*> look();

  const Plan& plan_;
  const MappedModule& module_;
  size_t index_;
  PatchOptions options_;
  PatchPlan& out_;
  ModuleCodes& codes_;
  TailCalls& tails_;
  ModuleCode* code_ = nullptr;
  std::vector<Candidate> candidates_;
};

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

void Planner::add_exits(SiteId id) {
  const Site& site = plan_.sites[id];
  const arch::Exits& exits = code_->exits(site.function_begin, site.function_end);
  if (!exits.complete) {
    return skip_site(id, "exits unknown (" + exits.reason + ")");
  }
  if (exits.exits.empty()) {
    return skip_site(id, kNeverReturns);
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
    if (c.region.pivot > address && !is_load(*code_, address, c.region.pivot)) return;
    c.calls.push_back(call);
    return;
  }
  if (!look().ok()) return;
  candidates_.push_back({{.address = address}, 0, false, false, {}, {call}, true, true});
}

// The hook whose bytes begin at this function's entry with `mov $nr,%eax`, as execve()'s do: the
// entry's handlers may as well run behind that. Null: there is none.
Candidate* Planner::hook_from(const Site& entry) {
  constexpr uint64_t kMoveBytes = 5;
  if (entry.kind != SiteKind::Entry) return nullptr;
  Candidate* hook = hook_at({.address = entry.address, .pivot = entry.address + kMoveBytes});
  return hook != nullptr && is_plain(*hook) ? hook : nullptr;
}

// The hook of that very system call; null: there is none, or it has given way. Hooks come first.
Candidate* Planner::hook_at(const arch::Region& region) {
  for (auto c = candidates_.begin(); c != candidates_.end() && c->hook; ++c) {
    if (c->region.address != region.address || c->region.pivot != region.pivot) continue;
    if (!c->yields) return &*c;
    candidates_.erase(c);
    break;
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

bool Planner::check(arch::Guards guards) {
  if (code_ == nullptr || candidates_.empty()) {
    return false;
  }
  std::vector<arch::Region> regions;
  regions.reserve(candidates_.size());
  for (const Candidate& c : candidates_) regions.push_back(c.region);
  code_->checker->check(regions, guards,
                        options_.lean ? arch::Neighbours::Lean : arch::Neighbours::Apart);
  if (guards == arch::Guards::Everywhere) bare_hooks(regions);
  // A probe inside a hook's bytes would turn the hook into an int3: the probe goes, and all begins
  // again.
  std::set<uint64_t> culprits;
  for (size_t i = 0; i < regions.size(); i++) {
    const Candidate& c = candidates_[i];
    if (c.hook && regions[i].verdict == arch::Verdict::InsideOtherSite)
      culprits.insert(c.yields ? c.region.address : regions[i].culprit);
  }
  refuse_writable(module_, regions);
  const size_t erased = std::erase_if(candidates_, [&](const Candidate& c) {
    const bool culprit = (!c.hook || c.yields) && culprits.contains(c.region.address);
    if (culprit && !c.object && !c.hook) skip_site(c.site, "inside a system call hook");
    return culprit;
  });
  if (erased > 0) return check(guards);
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
Rare<arch::Leaving> Planner::leaving_of(const Candidate& c) const {
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
  return !is_jump(c) && c.region.pivot > c.region.address ? c.region.pivot : c.region.address;
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

bool plan_modules(const Plan& plan, const std::vector<MappedModule>& modules, ModuleCodes& codes,
                  const PatchOptions& options, bool with_trap, PatchPlan& out,
                  arch::Guards guards = arch::Guards::None) {
  const std::vector<std::vector<SiteId>> sites = sites_by_module(plan, modules);
  const bool later = options.first_module > 0;
  const bool expects_int3 = plan.expects_objects && !later;
  const bool may_have_trap = !with_trap && !later;
  for (size_t i = modules.size(); may_have_trap && i > 0; i--) {
    if (expects_int3 || shows_int3(plan, sites[i - 1], modules[i - 1], codes)) return true;
  }
  TailCalls tails(plan, modules, codes, options.first_module, options.words_of());
  std::vector<Planner> planners;
  for (size_t i = options.first_module; i < modules.size(); i++) {
    planners.emplace_back(plan, modules, i, options, out, codes, tails);
  }
  HookSet set = with_trap ? HookSet::Trap : HookSet::Rseq;
  const HookRegions hooks = find_hooks(set, modules, codes, options.first_module);
  const bool tracees = can_hook_tracing(hooks, plan, sites);
  for (const auto& [module, call] : hooks.regions) {
    if ((tracees || !is_for_tracees(call.number)) &&
        (options.use_rseq || !is_essential(HookSet::Rseq, call.number))) {
      planners[module - options.first_module].add_hook(call, set);
    }
  }
  for (size_t i = 0; i < planners.size(); i++) {
    planners[i].add_sites(sites[options.first_module + i]);
  }
  const auto finder =
      options.first_module == 0 && !plan.sites.empty() ? find_object_finder(modules) : std::nullopt;
  if (finder) planners[finder->first].add_object_hook(finder->second);
  while (const std::optional<TailCalls::Step> step = tails.next()) {
    planners[step->function.first - options.first_module].add_callee(*step);
  }
  bool int3 = false;
  std::string missing;
  for (Planner& planner : planners) {
    int3 = planner.check(guards) || int3;
    missing = missing.empty() ? planner.missing_hook() : missing;
  }
  if (options.no_sigreturn && missing.empty())
    missing = "the program's seccomp filter denies rt_sigreturn";
  const bool needs_all = guards != arch::Guards::None || options.live;
  if ((int3 && !with_trap && !later) || (!missing.empty() && needs_all)) {
    return true;
  }
  out.no_int3 = missing.empty() ? "" : "SIGTRAP (" + missing + ")";
  if (later && !with_trap) {
    out.no_int3 = "opened later, and the session has not set SIGTRAP up";
  }
  out.expects_int3 = expects_int3 && out.no_int3.empty();
  Planner::Refused refused;
  for (const Planner& planner : planners) {
    planner.refuse(out.no_int3, refused);
  }
  constexpr size_t kOthers = 16;                   // hooks: places of no probe
  out.sites.reserve(plan.sites.size() + kOthers);  // mostly that many; they are large to move
  for (Planner& planner : planners) {
    planner.finish(refused);
  }
  drop_lone_captures(plan, out.sites);
  return false;
}

// Objects that were opened later: SIGTRAP is as the session has it.
PatchPlan plan_later(const Plan& plan, const std::vector<MappedModule>& modules, ModuleCodes& codes,
                     const PatchOptions& options) {
  PatchPlan out;
  const arch::Guards guards = options.has_trap ? options.guards_wanted() : arch::Guards::None;
  if (plan_modules(plan, modules, codes, options, options.has_trap, out, guards)) {
    out = {};
    plan_modules(plan, modules, codes, options, options.has_trap, out);
  }
  for (std::vector<PatchSite>* places : {&out.sites, &out.hooks}) {
    for (PatchSite& site : *places) {  // the session's numbers instead of the plan's
      for (SiteId& owner : site.owners) owner += plan.first_site;
      for (PatchCall& call : site.calls) call.site += plan.first_site;
    }
  }
  return out;
}

PatchPlan plan_first(const Plan& plan, const std::vector<MappedModule>& modules, ModuleCodes& codes,
                     const PatchOptions& wanted) {
  PatchOptions options = wanted;
  PatchPlan out;
  const arch::Guards guards = options.guards_wanted();
  if (options.live) {
    options.lean = false;  // those sites are written one after the other
    out.live = !plan_modules(plan, modules, codes, options, true, out, guards);
    if (out.live) return out;
    out = {};
    options = wanted;
    options.live = false;
  }
  if (guards == arch::Guards::Everywhere ||
      plan_modules(plan, modules, codes, options, false, out)) {
    // Guards need SIGTRAP as int3 sites do; where it cannot be had, plain jumps remain.
    out = {};
    if (plan_modules(plan, modules, codes, options, true, out, guards)) {
      out = {};
      plan_modules(plan, modules, codes, options, true, out);
    }
  }
  return out;
}

}  // namespace

bool PatchPlan::needs_trap() const {
  return expects_int3 || std::any_of(sites.begin(), sites.end(), [&](const PatchSite& s) {
           return s.state == SiteState::Registered && (live || s.traps());
         });
}

PatchPlan plan_patches(const Plan& plan, const std::vector<MappedModule>& modules,
                       ModuleCodes& codes, const PatchOptions& options) {
  PatchPlan out = options.first_module > 0 ? plan_later(plan, modules, codes, options)
                                           : plan_first(plan, modules, codes, options);
  take_whole_functions(out.sites, modules, codes, options.counting);
  out.sets_gs_base = !gs_base_setter(modules, options.first_module, codes).empty();
  return out;
}

}  // namespace dj
