// SPDX-License-Identifier: Apache-2.0
// report_calls() prints the table of --calls: what became of the calls that return probes have seen
// begin.
#pragma once
#include "compiler/diag/source.h"
#include "compiler/stages/layout.h"
#include "compiler/stages/plan.h"
#include "compiler/stages/program.h"

namespace dj {

// Turns the counting of calls on. Call it before the probes are armed.
void count_calls(const Layout& layout);

// Prints one line for each return probe on stderr. entered = returned + abandoned (by exceptions,
// longjmp, ended threads) + unseen (tail calls into unknown code, calls for which the arena had no
// room and whose return no probe saw, probes that were off meanwhile) + inside. Call it when no
// handler runs any more.
void report_calls(const Program& program, const Plan& plan, const Sources& sources,
                  const Layout& layout);

}  // namespace dj
