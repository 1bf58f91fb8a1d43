// SPDX-License-Identifier: Apache-2.0
// The session: from compiled code over the running, probed target to the last report.
#pragma once
#include <optional>

#include "compiler/diag/source.h"
#include "runtime/command/options.h"
#include "runtime/lua/lua_outputs.h"
#include "runtime/output/stage_clock.h"
#include "runtime/patch/hooks.h"
#include "runtime/run/compiled.h"
#include "runtime/session/loop.h"
#include "runtime/target/process/traced_process.h"

namespace dj {

// From compiled code to the end of the session. Returns the exit code.
int run_session(const Options& options, const Sources& sources, LuaOutputs& lua, Compiled& compiled,
                std::optional<TracedProcess>& process, ModuleCodes& codes, StageClock& clock,
                std::optional<HeldSignals>& held);

}  // namespace dj
