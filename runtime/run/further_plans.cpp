// SPDX-License-Identifier: Apache-2.0
// The stages from a resolved plan to its detours, once more.
#include "runtime/run/further_plans.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/base/printable.h"
#include "compiler/resolve/double_targets.h"
#include "compiler/stages/result_use.h"
#include "runtime/output/messages.h"
#include "runtime/patch/patch_cache.h"
#include "runtime/patch/tail_calls.h"
#include "runtime/run/handler_cache.h"
#include "runtime/run/lowering.h"

namespace dj {

// The script has been checked for the first plan's types.
void FurtherPlans::settle(Plan& plan) {
  for (const std::string& name : follow_doubles(compiled_.program, compiled_.own.doubles, plan)) {
    if (told_.insert(name).second)
      report_undone(
          fmt::format("{} is a number with a fraction in what was executed or opened "
                      "later, and the script takes it for a whole one: it is cut",
                      printable(name)));
  }
}

FurtherPlan FurtherPlans::begin(Plan plan, const std::vector<MappedModule>& modules,
                                bool has_rseq) {
  settle(plan);
  const Plan& first = compiled_.plan;
  find_exits(plan, modules, compiled_.facts.keeps_calls, codes_);
  if (next_handler_ == 0) {
    next_handler_ = static_cast<HandlerId>(first.handlers.size());
    sets_.keep(first, compiled_.facts.has_rseq,
               std::make_shared<HandlerCode>(compiled_.image, compiled_.abis));
  }
  FurtherPlan further;
  further.code = sets_.find(plan, has_rseq);
  further.plan = std::move(plan);
  further.is_shared = further.code != nullptr;
  return further;
}

// The rows of the plan's own host probes come behind its sites, and no event names them.
Status FurtherPlans::add(FurtherPlan& further, bool has_rseq) {
  const Plan& first = compiled_.plan;
  further.plan.first_site =
      static_cast<SiteId>(first.sites.size() + first.host_probes.size() + first.dlopened.size());
  if (!further.is_shared) {
    further.plan.first_handler = next_handler_;
    DJ_TRY(further.code, compile_handlers(further.plan, has_rseq));
  }
  further.plan.first_handler = further.code->first;
  DJ_TRY_DO(session_.add_plan(further.plan));
  if (!further.is_shared) sets_.keep(further.plan, has_rseq, further.code);
  remember(further);
  return ok_status();
}

Result<FurtherPlan> FurtherPlans::compile(Plan plan, const std::vector<MappedModule>& modules,
                                          bool has_rseq) {
  FurtherPlan further = begin(std::move(plan), modules, has_rseq);
  DJ_TRY_DO(add(further, has_rseq));
  return further;
}

Result<FurtherPlan> FurtherPlans::compile_program(Plan plan,
                                                  const std::vector<MappedModule>& modules,
                                                  bool has_rseq) {
  FurtherPlan further = begin(std::move(plan), modules, has_rseq);
  if (further.is_shared) {
    further.plan.first_handler = further.code->first;
    if (const auto there = rows_.find(further.plan, compiled_.plan)) {
      further.plan.first_site = *there;
      return further;
    }
  }
  DJ_TRY_DO(add(further, has_rseq));
  rows_.keep(further.plan);
  return further;
}

Result<std::shared_ptr<const HandlerCode>> FurtherPlans::compile_handlers(const Plan& plan,
                                                                          bool has_rseq) {
  EmitOptions emit;
  emit.abi.has_rseq = has_rseq;
  emit.spans = compiled_.image.spans;
  const ObjectCache kept = handler_cache(codes_);
  emit.kept = &kept;
  auto code = std::make_shared<HandlerCode>();
  code->first = plan.first_handler;
  DJ_TRY(code->image, lower(compiled_.program, plan, compiled_.layout, emit, code->abis));
  return std::shared_ptr<const HandlerCode>(std::move(code));
}

DetourPlan FurtherPlans::detours(const PlannedCode& code, const std::vector<MappedModule>& modules,
                                 const TargetFacts& facts, size_t first_module, KeptPatches* kept) {
  const PatchOptions& patching = compiled_.patching;
  const PatchInput input = {.plan = code.plan,
                            .modules = modules,
                            .options = patching,
                            .facts = facts,
                            .first_module = first_module,
                            .counting = counting_handlers(code.abis, patching)};
  PatchPlan patches = kept != nullptr ? kept->find(input, codes_) : find_patches(input, codes_);
  return plan_detours(std::move(patches),
                      {.plan = code.plan,
                       .abis = code.abis,
                       .modules = modules,
                       .first_module = first_module,
                       .code_bytes = link_bytes(code.image),
                       .switched = patching.switched,
                       .samples = code.samples},
                      codes_.file_cache());
}

// From here on, the plan's numbers are used.
void FurtherPlans::remember(const FurtherPlan& further) {
  Plan& first = compiled_.plan;
  const Plan& plan = further.plan;
  first.dlopened.insert(first.dlopened.end(), plan.sites.begin(), plan.sites.end());
  for (const HostProbe& host : plan.host_probes) first.dlopened.emplace_back().function = host.text;
  if (further.is_shared) return;
  compiled_.image.spans = further.code->image.spans;
  next_handler_ += static_cast<HandlerId>(plan.handlers.size());
  const std::vector<std::optional<ProbeId>> calls = probes_of_calls(plan);
  first.dlopened_calls.insert(first.dlopened_calls.end(), calls.begin(), calls.end());
}

}  // namespace dj
