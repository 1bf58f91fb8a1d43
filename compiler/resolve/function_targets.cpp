// SPDX-License-Identifier: Apache-2.0
// Asks the objects of the target, one after the other, for what @cast and @var mean in functions
// and in probes that djtap itself runs.
#include "compiler/resolve/function_targets.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/resolve/liveness.h"
#include "compiler/resolve/site_targets.h"

namespace dj {

namespace {

// Takes a @var, or a @cast whose pointer is given when it runs.
std::optional<TargetFailure> plan_placeless(const TargetExpr& expr, OtherObjects& others,
                                            TargetPlan& plan) {
  if (expr.pretty > 0) {
    TextAnswer answer = others.text(expr);
    if (auto* f = std::get_if<TargetFailure>(&answer)) {
      return *f;
    }
    plan = std::get<TargetText>(std::move(answer));
    return std::nullopt;
  }
  TargetAnswer answer = others.target(expr);
  if (auto* f = std::get_if<TargetFailure>(&answer)) {
    return *f;
  }
  plan = std::get<LocExpr>(std::move(answer));
  return std::nullopt;
}

bool of_thread(const LocExpr& expr) {
  return std::any_of(expr.steps.begin(), expr.steps.end(),
                     [](const LocStep& step) { return step.op == LocStep::PushFsBase; });
}

bool of_thread(const TargetPlan& plan) {
  if (const auto* value = std::get_if<LocExpr>(&plan)) {
    return of_thread(*value);
  }
  const auto* text = std::get_if<TargetText>(&plan);
  return text &&
         std::any_of(text->items.begin(), text->items.end(), [](const TargetText::Item& item) {
           return of_thread(item.value) || of_thread(item.length);
         });
}

// Each thread has its own such variable, and the handler runs in none of the program's.
TargetFailure thread_failure(const TargetExpr& expr, const std::string& where) {
  TargetFailure f;
  f.kind = TargetFailure::NotHere;
  f.message =
      fmt::format("each thread has its own \"{}\", and {} runs in none of them", expr.name, where);
  f.help = "keep its value in a global of the script where the program's threads come by";
  return f;
}

// The same of functions that the probe calls; false: reported.
bool check_called(const Program& program, const Probe& probe, const std::string& where,
                  OtherObjects& others, Diags& diags) {
  const std::vector<bool> called = called_function_targets(program, probe);
  for (size_t t = 0; t < called.size(); t++) {
    const TargetExpr& expr = program.function_targets[t];
    TargetPlan plan;
    if (called[t] && !plan_placeless(expr, others, plan) && of_thread(plan)) {
      report_failure(expr, thread_failure(expr, where), diags);
      return false;
    }
  }
  return true;
}

}  // namespace

bool plan_host_targets(const Program& program, const Probe& probe, const HostPlace& place,
                       OtherObjects& others, Diags& diags, std::vector<TargetPlan>& plans) {
  const size_t count = probe.targets.size();
  plans.assign(count, Undefined{"not a place in the program"});
  std::vector<std::optional<TargetFailure>> failures(count);
  std::vector<bool> defined(count);
  for (size_t t = 0; t < count; t++) {
    const TargetExpr& expr = probe.targets[t];
    if (expr.base != TargetExpr::Var && expr.base != TargetExpr::Cast) {
      continue;
    }
    failures[t] = plan_placeless(expr, others, plans[t]);
    if (!failures[t] && place.in_djtap && of_thread(plans[t])) {
      failures[t] = thread_failure(expr, place.text);
    }
    defined[t] = !failures[t];
    if (failures[t]) {
      plans[t] = Undefined{failures[t]->message};
    }
  }
  const std::vector<bool> live = live_targets(program, probe, defined);
  for (size_t t = 0; t < live.size(); t++) {
    if (live[t] && failures[t]) {
      report_failure(probe.targets[t], *failures[t], diags);
      return false;
    }
    if (live[t] && !defined[t]) {
      diags.error("DJ3016", probe.targets[t].name_span,
                  fmt::format("${} has no meaning here: {} is not a place in the program",
                              probe.targets[t].name, place.text));
      return false;
    }
  }
  return !place.in_djtap || check_called(program, probe, place.text, others, diags);
}

void plan_function_targets(const Program& program, OtherObjects& others, Plan& plan, Diags& diags) {
  const size_t count = program.function_targets.size();
  plan.function_targets.assign(count, Undefined{"not used"});
  std::vector<std::optional<TargetFailure>> failures(count);
  std::vector<bool> defined(count);
  for (size_t t = 0; t < count; t++) {
    TargetPlan& target = plan.function_targets[t];
    failures[t] = plan_placeless(program.function_targets[t], others, target);
    defined[t] = !failures[t];
    if (failures[t]) {
      target = Undefined{failures[t]->message};
    }
  }
  const std::vector<bool> live = live_function_targets(program, defined);
  for (size_t t = 0; t < count; t++) {
    if (live[t] && failures[t]) {
      report_failure(program.function_targets[t], *failures[t], diags);
    }
  }
}

}  // namespace dj
