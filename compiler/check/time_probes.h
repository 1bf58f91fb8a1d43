// SPDX-License-Identifier: Apache-2.0
// -t: every probe of a Program measures itself, by statements that the script does not show.
#pragma once
#include <vector>

#include "compiler/stages/program.h"

namespace dj {

// Gives each probe an aggregate of the cycles from the beginning of its body to its end or `next`,
// and a counter of its hits (Probe::hits); a hit that is not in the aggregate was skipped: it ended
// by a script error, or nothing of its handler ran. Returns the aggregates by ProbeId. They and the
// counters are the last globals, and count as read, so that no report shows them.
std::vector<GlobalId> time_probes(Program& program);

}  // namespace dj
