// SPDX-License-Identifier: Apache-2.0
// -t: every probe of a Program measures itself, by statements that the script does not show.
#pragma once
#include "compiler/stages/program.h"
#include "compiler/stages/timed_probes.h"

namespace dj {

// Gives each probe an aggregate of the cycles from the beginning of its body to its end or `next`,
// and a counter of its hits (Probe::hits); a hit that is not in the aggregate was skipped: it ended
// by a script error, or nothing of its handler ran. by_process: also an array of such aggregates by
// process, of the kMostTimedProcesses that came last. All these are the last globals, and count as
// read, so that no report shows them.
TimedProbes time_probes(Program& program, bool by_process);

}  // namespace dj
