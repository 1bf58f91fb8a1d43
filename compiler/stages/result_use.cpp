// SPDX-License-Identifier: Apache-2.0
// Looks for the result registers in the locations of target values.
#include "compiler/stages/result_use.h"

#include <algorithm>

#include "arch/x86_64/registers.h"

namespace dj {
namespace {

// rax, rdx, the first four vector registers, and the first two of the x87's stack; rbx, Go's
// second. Its others have uses of their own at the end of C's functions.
bool holds_result(int64_t reg) {
  return reg == arch::kRax || reg == arch::kRdx || reg == arch::kRbx ||
         (reg >= arch::kXmm0 && reg <= arch::kXmm0 + 3) || reg == arch::kSt0 ||
         reg == arch::kSt0 + 1;
}

bool reads_result(const LocExpr& expr) {
  return std::any_of(expr.steps.begin(), expr.steps.end(), [](const LocStep& s) {
    return s.op == LocStep::PushReg && holds_result(s.a);
  });
}

bool reads_result(const TargetPlan& target) {
  if (const LocExpr* expr = std::get_if<LocExpr>(&target)) return reads_result(*expr);
  const TargetText* text = std::get_if<TargetText>(&target);
  return text != nullptr &&
         std::any_of(text->items.begin(), text->items.end(), [](const TargetText::Item& item) {
           return item.defined && reads_result(item.value);
         });
}

bool reads_result(const Handler& handler) {
  return handler.role == Handler::Role::Body &&
         std::any_of(handler.targets.begin(), handler.targets.end(),
                     [](const TargetPlan& target) { return reads_result(target); });
}

}  // namespace

std::vector<bool> handlers_of_results(const Plan& plan) {
  std::vector<bool> found(plan.handlers.size());
  const std::vector<bool> calls = handlers_of_calls(plan);
  for (const Site& site : plan.sites) {
    if (site.kind != SiteKind::Return) continue;
    for (HandlerId id : site.handlers) {
      found[id] = site.stub.has_value() || reads_result(plan.handlers[id]) || calls[id];
    }
  }
  return found;
}

std::vector<bool> handlers_that_wait(const Plan& plan) {
  std::vector<bool> found = handlers_of_results(plan);
  for (HandlerId id = 0; id < found.size(); id++) {
    found[id] = found[id] || plan.handlers[id].shared_exits;
  }
  return found;
}

std::vector<bool> handlers_of_calls(const Plan& plan) {
  std::vector<bool> found(plan.handlers.size());
  for (const Handler& handler : plan.handlers) {
    if (handler.role == Handler::Role::Capture) found[handler.capture_for] = true;
  }
  return found;
}

std::vector<std::optional<ProbeId>> probes_of_calls(const Plan& plan) {
  const std::vector<bool> of_calls = handlers_of_calls(plan);
  std::vector<std::optional<ProbeId>> probes(plan.handlers.size());
  for (HandlerId id = 0; id < probes.size(); id++) {
    if (of_calls[id]) probes[id] = plan.handlers[id].probe;
  }
  return probes;
}

std::vector<bool> handlers_of_syscalls(const Plan& plan) {
  std::vector<bool> found(plan.handlers.size());
  for (const Site& site : plan.sites) {
    if (!site.syscall || !site.syscall->done) continue;
    for (HandlerId id : site.handlers) found[id] = true;
  }
  return found;
}

bool keeps_calls(const Plan& plan) {
  const std::vector<bool> waiting = handlers_that_wait(plan), calls = handlers_of_calls(plan);
  return std::find(waiting.begin(), waiting.end(), true) != waiting.end() ||
         std::find(calls.begin(), calls.end(), true) != calls.end();
}

}  // namespace dj
