// SPDX-License-Identifier: Apache-2.0
// report_times() prints the table of -t: how often each probe was hit and skipped, and how long its
// handler ran.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/diag/source.h"
#include "compiler/stages/layout.h"
#include "compiler/stages/program.h"
#include "runtime/output/global_values.h"

namespace dj {

// Prints the table on stderr, the probe that took most time first. Times are nanoseconds, or cycles
// if the processor's counter is no clock. A probe has the name that the script writes. times: by
// ProbeId, aggregates of cycles in the arena at layout.base.
void report_times(const std::vector<GlobalId>& times, const Program& program,
                  const Sources& sources, const Layout& layout);

// Returns the aggregates of TimedProbes::by_process, those of most hits first, without djtap's own
// probes.
std::vector<Element> process_times(GlobalId times, const Program& program, const Layout& layout);
// ProcessNames: by a process's number, what it runs.
using ProcessNames = std::map<int, std::string>;
// Prints what the probes took in each process, the one that took most time first, if there were
// several. times: the aggregates by process (TimedProbes::by_process).
void report_process_times(GlobalId times, const ProcessNames& names, const Program& program,
                          const Layout& layout);

// Returns cycles of the processor's counter as nanoseconds; unchanged if the counter is no clock.
int64_t to_ns(int64_t cycles, const Layout& layout);
// Returns the probe's name and place: 'func("f").return at trace.djt:3:7'
std::string label_of(const Probe& probe, const Sources& sources);

}  // namespace dj
