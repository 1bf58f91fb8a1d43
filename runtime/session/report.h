// SPDX-License-Identifier: Apache-2.0
// report_arming() and warn_unraised() report the arming of a session as text.
#pragma once
#include "runtime/output/stage_clock.h"
#include "runtime/target/target.h"

namespace dj {

// Warns of semaphores that were not raised since the last call: there were more than a session
// raises.
void warn_unraised(Target& target);

// Reports what arm() came to: the line of -v; all sites if `list`, with `pid` where it is not 0; the
// warnings if `warn`.
void report_arming(Target& target, StageClock& clock, bool list, int pid, bool warn);

}  // namespace dj
