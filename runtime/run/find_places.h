// SPDX-License-Identifier: Apache-2.0
// From Program to Plan: where the probes go in this target, and which types that settles.
#pragma once
#include <optional>

#include "compiler/diag/diag.h"
#include "compiler/diag/source.h"
#include "compiler/stages/ast.h"
#include "runtime/command/options.h"
#include "runtime/output/stage_clock.h"
#include "runtime/patch/module_code.h"
#include "runtime/run/compiled.h"
#include "runtime/target/process/traced_process.h"

namespace dj {

// What djtap adds to the checked script: what -t and arming conditions need.
void add_own(const Options& options, Compiled& compiled);

// The plan of compiled.program; as an earlier session has found it, if that is kept. The target
// runs, or stands before its start.
Plan find_places(const Options& options, Compiled& compiled,
                 const std::optional<TracedProcess>& process, ModuleCodes& codes, Diags& diags,
                 StageClock& clock);

// Which target variables are doubles and pointers is known behind find_places(): where there are
// doubles, `script` is checked once more, with that. False: it was told what cannot be done with
// them.
bool settle_types(const Options& options, const Sources& sources, const ast::Script& script,
                  Compiled& compiled);

}  // namespace dj
