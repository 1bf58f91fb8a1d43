// SPDX-License-Identifier: Apache-2.0
// Values at places that call out of an object, where no debug info tells of them: at PLT entries
// $$name and $return; at system calls $syscall, $arg1 to $arg6, $return, $$parms, $$vars and
// $$return.
#pragma once
#include <optional>

#include "compiler/debuginfo/debug_info.h"
#include "compiler/resolve/site_targets.h"

namespace dj {

// True: the name is one that such places define. Then `plan` has its value, or `failure` says why
// not. What is known at the call alone, `out.capture` keeps for the return.
bool plan_call_target(const TargetExpr& expr, const Site& site, SiteTargets& out, TargetPlan& plan,
                      std::optional<TargetFailure>& failure);

}  // namespace dj
