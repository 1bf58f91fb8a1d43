// Target expressions that no probed place decides: those of functions, and the sizes and places of
// types in probes like begin.
#pragma once
#include <optional>

#include "compiler/diag.h"
#include "compiler/plan.h"
#include "compiler/program.h"
#include "compiler/resolve/other_objects.h"

namespace dj {

// Looks the expression up in the objects that it names, or in all of the target's.
std::optional<TargetFailure> plan_placeless(const TargetExpr& expr, OtherObjects& others,
                                            TargetPlan& plan);

// Fills Plan::function_targets; an error for each that is read and has no value.
void plan_function_targets(const Program& program, OtherObjects& others, Plan& plan, Diags& diags);

}  // namespace dj
