// SPDX-License-Identifier: Apache-2.0
// Globals first, on the session's output; then times, calls and losses, on stderr.
#include "runtime/run/report_session.h"

#include <fmt/format.h>

#include "compiler/base/counted.h"
#include "runtime/output/messages.h"
#include "runtime/output/report_calls.h"
#include "runtime/output/report_globals.h"
#include "runtime/output/report_times.h"
#include "runtime/run/debug_servers.h"
#include "runtime/session/losses.h"
#include "runtime/session/report.h"
#include "runtime/target/report_sites.h"

namespace dj {

void report_end(const ReportChoices& report, const Prepared& prepared, Output& output) {
  const Compiled& compiled = prepared.compiled;
  LuaOutputs& lua = prepared.lua;
  lua.flush(output);
  if (!lua.takes_globals() && !report.show_globals) return;
  if (!lua.takes_globals() && lua.diags().ok())
    return report_globals(unread_globals(compiled.program, compiled.layout), report.format, output);
  const std::vector<GlobalValue> all = read_globals(compiled.program, compiled.layout);
  const StackNamer namer = [&](std::string_view stack) {
    return stack_names(compiled.layout.header, stack);
  };
  if (lua.takes_globals()) lua.end(all, namer, output);
  if (!lua.diags().ok()) report_globals(all, report.format, output);
}

void report_run(const ReportChoices& report, bool verbose, const Prepared& prepared,
                Session& session, Output& output) {
  const Compiled& compiled = prepared.compiled;
  const TimedProbes& timed = compiled.own.timed;
  const Sources& sources = prepared.sources;
  report_late_debug_files();
  output.flush();
  Target* const target = session.target();
  if (target != nullptr) target->report_misread_tables();
  report_losses({session.words(), compiled.program, compiled.plan, compiled.layout});
  if (report.times) report_times(timed.times, compiled.program, sources, compiled.layout);
  if (report.times && timed.by_process)
    report_process_times(*timed.by_process, prepared.target.names, compiled.program,
                         compiled.layout);
  if (report.times || report.calls) {
    report_calls(compiled.program, compiled.plan, sources, compiled.layout);
  }
  if (verbose && target != nullptr) {
    report_unusual_sites(target->sites());
    if (const std::optional<Samples> samples = session.samples())
      log_line("djtap: {} taken, {} left out", counted(samples->taken, "sample"),
               samples->left_out);
  }
  report_all(prepared.lua.diags(), sources);
  if (output.closed())
    report_error("DJ5012", fmt::format("output ended early: {}", output.error()));
}

}  // namespace dj
