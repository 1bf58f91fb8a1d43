// SPDX-License-Identifier: Apache-2.0
// report_end() and report_run() write what a session reports when it has ended: its globals, and
// messages about it on stderr.
#pragma once
#include "runtime/command/choices.h"
#include "runtime/output/output.h"
#include "runtime/run/prepared.h"
#include "runtime/session/session.h"

namespace dj {

// Writes the globals, or lets a Lua file write them. If that file has failed, writes all globals
// itself.
void report_end(const ReportChoices& report, const Prepared& prepared, Output& output);

// Tells on stderr what was lost, times and calls if `report` asks for them, and with `verbose` the
// form of sites that are no plain jump.
void report_run(const ReportChoices& report, bool verbose, const Prepared& prepared,
                Session& session, Output& output);

}  // namespace dj
