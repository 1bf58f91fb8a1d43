// SPDX-License-Identifier: Apache-2.0
// A probe's target has one type, though its places may differ.
#include "compiler/resolve/double_targets.h"

namespace dj {

std::vector<std::vector<bool>> settle_doubles(const Program& program, Plan& plan) {
  std::vector<std::vector<bool>> doubles(program.probes.size() + 1);
  bool any = false;
  for (const TargetPlan& target : plan.function_targets) {
    const auto* value = std::get_if<LocExpr>(&target);
    doubles.back().push_back(value && value->is_double);
    any = any || doubles.back().back();
  }
  for (const Handler& handler : plan.handlers) {
    std::vector<bool>& row = doubles[handler.probe];
    row.resize(program.probes[handler.probe].targets.size());
    for (size_t t = 0; t < handler.targets.size(); t++) {
      const auto* value = std::get_if<LocExpr>(&handler.targets[t]);
      row[t] = row[t] || (value && value->is_double);
      any = any || row[t];
    }
  }
  if (!any) {
    return {};
  }
  for (Handler& handler : plan.handlers) {
    for (size_t t = 0; t < handler.targets.size(); t++) {
      auto* value = std::get_if<LocExpr>(&handler.targets[t]);
      if (value && !value->is_double && doubles[handler.probe][t]) {
        value->steps.push_back({LocStep::DoubleOfInt});
        value->is_double = true;
      }
    }
  }
  return doubles;
}

}  // namespace dj
