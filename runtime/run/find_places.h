// SPDX-License-Identifier: Apache-2.0
// find_places() makes a Plan of a Program: where the probes go in this target. settle_types() uses
// the types that this settles.
#pragma once
#include "compiler/diag/diag.h"
#include "compiler/diag/source.h"
#include "compiler/stages/ast.h"
#include "runtime/command/choices.h"
#include "runtime/output/stage_clock.h"
#include "runtime/patch/module_code.h"
#include "runtime/run/compiled.h"
#include "runtime/run/found_target.h"

namespace dj {

// Fills in Compiled::own: what -t, --calls and arming conditions need beside the checked script.
void add_own(const ReportChoices& report, Compiled& compiled);

// Returns the plan of compiled.program; the one that an earlier session has found, if djtap kept
// it. The target runs, or stands before its start.
Plan find_places(Compiled& compiled, const FoundTarget& target, ModuleCodes& codes, Diags& diags,
                 StageClock& clock);

// Makes the session have room for probes that are added while it runs.
void await_additions(const FoundTarget& target, Plan& plan);

// Takes over which target variables are doubles and pointers; djtap knows that behind
// find_places(). If some are doubles, checks `script` once more with that. False: the script does
// something that doubles do not allow, and settle_types() has told it. strict: CheckOptions's.
bool settle_types(const ast::Script& script, bool strict, const Sources& sources,
                  const ReportChoices& report, Compiled& compiled);

}  // namespace dj
