// SPDX-License-Identifier: Apache-2.0
// A probe's target has one type, though its places may differ.
#include "compiler/resolve/double_targets.h"

namespace dj {
namespace {

void make_double(LocExpr& value) {
  value.steps.push_back({LocStep::DoubleOfInt});
  value.is_double = true;
}

void cut(LocExpr& value) {
  value.steps.push_back({LocStep::IntOfDouble});
  value.is_double = false;
}

}  // namespace

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
      if (value && !value->is_double && doubles[handler.probe][t]) make_double(*value);
    }
  }
  return doubles;
}

std::set<std::string> follow_doubles(const Program& program,
                                     const std::vector<std::vector<bool>>& doubles, Plan& plan) {
  std::set<std::string> cut_ones;
  const auto follow = [&](const std::vector<bool>& row, const std::vector<TargetExpr>& exprs,
                          std::vector<TargetPlan>& targets) {
    for (size_t t = 0; t < targets.size(); t++) {
      auto* value = std::get_if<LocExpr>(&targets[t]);
      const bool wants_double = t < row.size() && row[t];
      if (value == nullptr || value->is_double == wants_double) continue;
      const bool is_variable = exprs[t].base == TargetExpr::Variable;
      if (!wants_double) cut_ones.insert((is_variable ? "$" : "") + exprs[t].name);
      wants_double ? make_double(*value) : cut(*value);
    }
  };
  static const std::vector<bool> kNone;
  const bool knows_any = !doubles.empty();
  for (Handler& handler : plan.handlers) {
    const bool has_row = handler.probe + 1 < doubles.size();  // the last one is the functions'
    follow(has_row ? doubles[handler.probe] : kNone, program.probes[handler.probe].targets,
           handler.targets);
  }
  follow(knows_any ? doubles.back() : kNone, program.function_targets, plan.function_targets);
  return cut_ones;
}

}  // namespace dj
