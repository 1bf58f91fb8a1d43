// SPDX-License-Identifier: Apache-2.0
// compile_for() compiles a Plan into code for one target: globals, stack tables and handlers.
// plan_patches_for() plans which bytes of the target's text will change.
#pragma once
#include <optional>

#include "runtime/command/choices.h"
#include "runtime/output/stage_clock.h"
#include "runtime/patch/module_code.h"
#include "runtime/run/compiled.h"
#include "runtime/run/found_target.h"

namespace dj {

// Fills in Compiled from `layout` on. Without a target it compiles only what djtap itself runs. It
// may stop a running process for a moment. If it cannot make the code, it says why on stderr and
// returns the exit code.
std::optional<int> compile_for(FoundTarget& target, const Limits& limits,
                               const StageChoices& stages, ModuleCodes& codes, Compiled& compiled,
                               StageClock& clock);

// Fills in Compiled::patches: analyses the machine code of the probed places. Does not touch the
// target.
void plan_patches_for(const FoundTarget& target, const StageChoices& stages, ModuleCodes& codes,
                      Compiled& compiled, StageClock& clock);

}  // namespace dj
