// SPDX-License-Identifier: Apache-2.0
// The plugin first, then the report.
#include "runtime/run/load_outputs.h"

#include "runtime/output/messages.h"
#include "runtime/run/show.h"

namespace dj {

std::optional<int> load_outputs(const ReportChoices& report, const CommandLine& line,
                                Sources& sources, LuaOutputs& lua) {
  Status loaded = lua.load_plugin(report.plugin, sources);
  if (!loaded.ok()) return fail_without(line, "-f,--format", loaded.error().message);
  loaded = lua.load_report(report.lua_path, sources);
  if (!loaded.ok()) return fail_without(line, "--report", loaded.error().message);
  if (lua.diags().ok()) return std::nullopt;
  report_all(lua.diags(), sources);
  return kExitSyntax;
}

}  // namespace dj
