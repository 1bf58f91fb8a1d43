// SPDX-License-Identifier: Apache-2.0
// Arming of a session as text.
#pragma once
#include "runtime/output/stage_clock.h"
#include "runtime/target/target.h"

namespace dj {

// A warning, once, if there were more semaphores than a session raises.
void warn_unraised(Target& target);

// What arm() came to: the line of -v, all sites if `list`, the warnings if `warn`.
void report_arming(Target& target, StageClock& clock, bool list, bool warn);

}  // namespace dj
