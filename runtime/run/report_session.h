// SPDX-License-Identifier: Apache-2.0
// What is written when a session has ended: its globals, and what stderr has to say of it.
#pragma once
#include "runtime/command/choices.h"
#include "runtime/output/output.h"
#include "runtime/run/prepared.h"
#include "runtime/session/session.h"

namespace dj {

// Writes the globals, or has a Lua file do it. Where that file has failed they are not lost: all
// are written.
void report_end(const ReportChoices& report, const Prepared& prepared, Output& output);

// Tells on stderr what was lost, times and calls if they are asked for, and with `verbose` how
// sites were made that are no plain jump.
void report_run(const ReportChoices& report, bool verbose, const Prepared& prepared,
                Session& session, Output& output);

}  // namespace dj
