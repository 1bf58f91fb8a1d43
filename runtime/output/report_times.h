// SPDX-License-Identifier: Apache-2.0
// report_times() prints the table of -t: how often each probe was hit and skipped, and how long its
// handler ran.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/diag/source.h"
#include "compiler/stages/layout.h"
#include "compiler/stages/program.h"

namespace dj {

// Prints the table on stderr, the probe that took most time first. Times are nanoseconds, or cycles
// if the processor's counter is no clock. A probe has the name that the script writes. times: by
// ProbeId, aggregates of cycles in the arena at layout.base.
void report_times(const std::vector<GlobalId>& times, const Program& program,
                  const Sources& sources, const Layout& layout);

// Returns cycles of the processor's counter as nanoseconds; unchanged if the counter is no clock.
int64_t to_ns(int64_t cycles, const Layout& layout);
// Returns the probe's name and place: 'func("f").return at trace.djt:3:7'
std::string label_of(const Probe& probe, const Sources& sources);

}  // namespace dj
