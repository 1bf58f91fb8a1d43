// SPDX-License-Identifier: Apache-2.0
// Values at SDT marks: $arg1.., $$parms, $$vars, $$name and $$provider.
#pragma once
#include <optional>

#include "compiler/debuginfo/debug_info.h"
#include "compiler/stages/plan.h"
#include "compiler/stages/program.h"

namespace dj {

// True: the name is one that marks define. Then `plan` has its value, or `failure` says why not.
bool plan_mark_target(const TargetExpr& expr, const Site& site, TargetPlan& plan,
                      std::optional<TargetFailure>& failure);

}  // namespace dj
