// SPDX-License-Identifier: Apache-2.0
// load_outputs() loads the Lua files that -f plugin: and --report name.
#pragma once
#include <optional>

#include "compiler/diag/source.h"
#include "runtime/command/choices.h"
#include "runtime/command/command_line.h"
#include "runtime/lua/lua_outputs.h"

namespace dj {

// Loads them into `lua`. If it cannot load one, tells why and returns the exit code; empty: it has
// loaded all.
std::optional<int> load_outputs(const ReportChoices& report, const CommandLine& line,
                                Sources& sources, LuaOutputs& lua);

}  // namespace dj
