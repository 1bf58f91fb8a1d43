// -t: every probe of a Program measures itself, by statements that the script does not show.
#pragma once
#include <vector>

#include "compiler/program.h"

namespace dj {

// Gives each probe an aggregate of the cycles from the beginning of its body to its end or `next`;
// hits that end by a script error are left out. Returns the aggregates by ProbeId. They are the
// last globals, and count as read, so that no report shows them.
std::vector<GlobalId> time_probes(Program& program);

}  // namespace dj
