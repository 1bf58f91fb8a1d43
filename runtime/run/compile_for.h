// SPDX-License-Identifier: Apache-2.0
// compile_for() compiles a Plan into code for one target: globals, stack tables and handlers.
// plan_patches_for() plans which bytes of the target's text will change.
#pragma once
#include <optional>

#include "runtime/command/choices.h"
#include "runtime/output/stage_clock.h"
#include "runtime/patch/module_code.h"
#include "runtime/run/compiled.h"
#include "runtime/target/process/traced_process.h"

namespace dj {

// Fills in Compiled from `layout` on. process: empty, it compiles only what djtap itself runs; it
// may stop a running one for a moment. If it cannot make the code, it says why on stderr and
// returns the exit code.
std::optional<int> compile_for(std::optional<TracedProcess>& process, const Limits& limits,
                               const StageChoices& stages, ModuleCodes& codes, Compiled& compiled,
                               StageClock& clock);

// Fills in Compiled::patches: analyses the machine code of the probed places. Does not touch the
// target.
void plan_patches_for(const TracedProcess& process, const StageChoices& stages, ModuleCodes& codes,
                      Compiled& compiled, StageClock& clock);

}  // namespace dj
