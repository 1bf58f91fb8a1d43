// SPDX-License-Identifier: Apache-2.0
// Prepared holds what the stages before the session have made of a script, and for which target.
#pragma once
#include <csignal>

#include "compiler/diag/source.h"
#include "runtime/lua/lua_outputs.h"
#include "runtime/output/stage_clock.h"
#include "runtime/patch/module_code.h"
#include "runtime/run/compiled.h"
#include "runtime/run/found_target.h"
#include "runtime/run/script_growth.h"

namespace dj {

// All members outlive the session.
struct Prepared {
  const Sources& sources;
  ScriptGrowth& growth;
  LuaOutputs& lua;  // files of -f and --report
  Compiled& compiled;
  FoundTarget& target;  // nothing: djtap runs all handlers itself
  ModuleCodes& codes;
  StageClock& clock;
  const sigset_t& mask;  // the signals that are blocked in programs that djtap starts
};

}  // namespace dj
