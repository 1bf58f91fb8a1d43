// Asks the objects of the target, one after the other, for what @cast and @var of functions mean.
#include "compiler/resolve/function_targets.h"

#include "compiler/resolve/liveness.h"
#include "compiler/resolve/site_targets.h"

namespace dj {

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
