// SPDX-License-Identifier: Apache-2.0
// Target expressions that no probed place decides: @cast and @var in functions, and in probes like
// begin and timers.
#pragma once
#include <optional>

#include "compiler/diag/diag.h"
#include "compiler/resolve/other_objects.h"
#include "compiler/stages/plan.h"
#include "compiler/stages/program.h"

namespace dj {

// Where a probe runs that is no place in the program.
struct HostPlace {
  std::string text;      // its point, as written
  bool in_djtap = true;  // false: in the program's threads, whichever run just then
};

// Looks the probe's @cast and @var up in the objects that they name, or in all of the target's, and
// fills `plans` by TargetId. False: one that is read has no value there (reported), or the probe
// reads what only places have.
bool plan_host_targets(const Program& program, const Probe& probe, const HostPlace& place,
                       OtherObjects& others, Diags& diags, std::vector<TargetPlan>& plans);

// Fills Plan::function_targets; an error for each that is read and has no value.
void plan_function_targets(const Program& program, OtherObjects& others, Plan& plan, Diags& diags);

}  // namespace dj
