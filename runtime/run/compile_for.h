// SPDX-License-Identifier: Apache-2.0
// From Plan to code and patches: what its globals, stack tables and handlers are in this one
// target, and which bytes of its text will change.
#pragma once
#include <optional>

#include "runtime/command/choices.h"
#include "runtime/output/stage_clock.h"
#include "runtime/patch/module_code.h"
#include "runtime/run/compiled.h"
#include "runtime/target/process/traced_process.h"

namespace dj {

// Fills in Compiled from `layout` on. process: none, only what djtap itself runs is compiled; a
// running one may be stopped for a moment. When the code cannot be had that is told, and the exit
// code returned.
std::optional<int> compile_for(std::optional<TracedProcess>& process, const Limits& limits,
                               const StageChoices& stages, ModuleCodes& codes, Compiled& compiled,
                               StageClock& clock);

// Fills in Compiled::patches: analyses the machine code of what is probed. The target is not
// touched.
void plan_patches_for(const TracedProcess& process, const StageChoices& stages, ModuleCodes& codes,
                      Compiled& compiled, StageClock& clock);

}  // namespace dj
