// SPDX-License-Identifier: Apache-2.0
// The table of --calls: what became of the calls that return probes have seen begin.
#pragma once
#include "compiler/diag/source.h"
#include "compiler/stages/layout.h"
#include "compiler/stages/plan.h"
#include "compiler/stages/program.h"

namespace dj {

// From now on calls are counted; before the probes are armed.
void count_calls(const Layout& layout);

// One line a return probe on stderr; none if the script has no such probe. entered = returned +
// abandoned (by exceptions, longjmp, ended threads) + unseen (tail calls into unknown code, calls
// for which there was no room and that were not seen to return, probes that were off meanwhile) +
// inside. No handler runs any more.
void report_calls(const Program& program, const Plan& plan, const Sources& sources,
                  const Layout& layout);

}  // namespace dj
