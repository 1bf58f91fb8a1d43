// SPDX-License-Identifier: Apache-2.0
// Planning of all patches of a session, module by module.
//
// All regions of a module are checked in one call, hooks first: so the checker sees every
// collision, and it is a probe that gives way to a hook. If a probe turns out to need an int3 the
// second, larger set of hooks is needed, and everything is checked again with it.
#include "runtime/patch/patch_plan.h"

#include <algorithm>

#include "runtime/patch/hooks.h"
#include "runtime/patch/int3_sample.h"
#include "runtime/patch/mapped_sites.h"
#include "runtime/patch/planner.h"
#include "runtime/patch/tail_calls.h"
#include "runtime/patch/whole_function_relocation.h"

namespace dj {
namespace {

using SitesByModule = std::vector<std::vector<SiteId>>;

// One planner for each module that is not left alone; all candidates are in them.
std::vector<Planner> gather(const PatchInput& input, const SitesByModule& sites, const Way& way,
                            ModuleCodes& codes, TailCalls& tails, PatchPlan& out) {
  const auto& [plan, modules, options, facts, first, counting] = input;
  std::vector<Planner> planners;
  for (size_t i = first; i < modules.size(); i++) {
    planners.emplace_back(input, i, way, out, codes, tails);
  }
  const HookSet set = way.with_trap ? HookSet::Trap : HookSet::Rseq;
  const HookRegions hooks =
      facts.makes_system_calls ? find_hooks(set, modules, codes, first) : HookRegions();
  for (const auto& [module, call] : hooks.regions) {
    if (facts.has_rseq || !is_essential(HookSet::Rseq, call.number)) {
      planners[module - first].add_hook(call, set);
    }
  }
  for (size_t i = 0; i < planners.size(); i++) planners[i].add_sites(sites[first + i]);
  const auto finder =
      !input.is_dlopened() && !plan.sites.empty() ? find_object_finder(modules) : std::nullopt;
  if (finder) planners[finder->first].add_object_hook(finder->second);
  while (const std::optional<TailCalls::Step> step = tails.next()) {
    planners[step->function.first - first].add_callee(*step);
  }
  return planners;
}

// Why no place can be an int3, where that is so. `missing`: an essential hook that cannot be.
std::string why_no_int3(const PatchInput& input, const Way& way, const std::string& missing) {
  if (input.is_dlopened() && !way.with_trap)
    return "opened later, and the session has not set SIGTRAP up";
  return missing.empty() ? "" : "SIGTRAP (" + missing + ")";
}

// False: nothing can be planned in this way, and `out` is to be thrown away.
bool plan_modules(const PatchInput& input, const Way& way, ModuleCodes& codes, PatchPlan& out) {
  const Plan& plan = input.plan;
  const SitesByModule sites = sites_by_module(plan, input.modules);
  const bool expects_int3 = plan.expects_objects && !input.is_dlopened();
  const bool may_have_trap = !way.with_trap && !input.is_dlopened();
  for (size_t i = input.modules.size(); may_have_trap && i > 0; i--) {
    if (expects_int3 || shows_int3(plan, sites[i - 1], input.modules[i - 1], codes)) return false;
  }
  TailCalls tails(plan, input.modules, codes, input.first_module, input.facts.read_word);
  std::vector<Planner> planners = gather(input, sites, way, codes, tails, out);
  bool int3 = false;
  std::string missing;
  for (Planner& planner : planners) {
    int3 = planner.check() || int3;
    missing = missing.empty() ? planner.missing_hook() : missing;
  }
  if (missing.empty()) missing = input.facts.no_int3;
  const bool needs_all = way.guards != arch::Guards::None || way.live;
  if ((int3 && may_have_trap) || (!missing.empty() && needs_all)) return false;
  out.no_int3 = why_no_int3(input, way, missing);
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
  return true;
}

// Objects that were opened later: SIGTRAP is as the session has it.
PatchPlan plan_dlopened(const PatchInput& input, ModuleCodes& codes) {
  const auto& [plan, modules, options, facts, first, counting] = input;
  PatchPlan out;
  const arch::Guards guards = facts.has_trap ? options.guards_wanted() : arch::Guards::None;
  if (!plan_modules(input, {facts.has_trap, guards}, codes, out)) {
    out = {};
    plan_modules(input, {facts.has_trap}, codes, out);
  }
  return out;
}

// The session's numbers instead of the plan's.
void number(SiteId first_site, PatchPlan& out) {
  if (first_site == 0) return;
  for (std::vector<PatchSite>* places : {&out.sites, &out.hooks}) {
    for (PatchSite& site : *places) {
      for (SiteId& owner : site.owners) owner += first_site;
      for (PatchCall& call : site.calls) call.site += first_site;
    }
  }
}

PatchPlan plan_first(const PatchInput& input, ModuleCodes& codes) {
  const arch::Guards guards = input.options.guards_wanted();
  std::vector<Way> ways;
  if (input.is_live()) ways.push_back({.with_trap = true, .guards = guards, .live = true});
  if (guards != arch::Guards::Everywhere) ways.push_back({});
  // Guards need SIGTRAP as int3 sites do; where it cannot be had, plain jumps remain.
  ways.push_back({.with_trap = true, .guards = guards});
  for (const Way& way : ways) {
    PatchPlan out;
    out.live = way.live;
    if (plan_modules(input, way, codes, out)) return out;
  }
  PatchPlan out;
  plan_modules(input, {.with_trap = true}, codes, out);
  return out;
}

}  // namespace

bool PatchPlan::needs_trap() const {
  return expects_int3 || std::any_of(sites.begin(), sites.end(), [&](const PatchSite& s) {
           return s.state == SiteState::Registered && (live || s.traps());
         });
}

std::vector<bool> counting_handlers(const std::vector<HandlerAbi>& abis,
                                    const PatchOptions& options) {
  std::vector<bool> counting;
  for (const HandlerAbi& abi : abis) {
    counting.push_back(abi.count_word != 0 && !options.switched);
  }
  return counting;
}

PatchPlan plan_patches(const PatchInput& input, ModuleCodes& codes) {
  PatchPlan out = input.is_dlopened() ? plan_dlopened(input, codes) : plan_first(input, codes);
  number(input.plan.first_site, out);
  relocate_whole_functions(out.sites, input.modules, codes, input.counting);
  out.sets_gs_base = !gs_base_setter(input.modules, input.first_module, codes).empty();
  return out;
}

}  // namespace dj
