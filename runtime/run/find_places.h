// SPDX-License-Identifier: Apache-2.0
// From Program to Plan: where the probes go in this target, and which types that settles.
#pragma once
#include <optional>

#include "compiler/diag/diag.h"
#include "compiler/diag/source.h"
#include "compiler/stages/ast.h"
#include "runtime/command/choices.h"
#include "runtime/output/stage_clock.h"
#include "runtime/patch/module_code.h"
#include "runtime/run/compiled.h"
#include "runtime/target/process/traced_process.h"

namespace dj {

// Fills in Compiled::own: what -t, --calls and arming conditions need beside the checked script.
void add_own(const ReportChoices& report, Compiled& compiled);

// The plan of compiled.program; as an earlier session has found it, if that is kept. The target
// runs, or stands before its start.
Plan find_places(Compiled& compiled, const std::optional<TracedProcess>& process,
                 ModuleCodes& codes, Diags& diags, StageClock& clock);

// Which target variables are doubles and pointers is known behind find_places(): where there are
// doubles, `script` is checked once more, with that. False: it was told what cannot be done with
// them.
// strict: as CheckOptions has it.
bool settle_types(const ast::Script& script, bool strict, const Sources& sources,
                  const ReportChoices& report, Compiled& compiled);

}  // namespace dj
