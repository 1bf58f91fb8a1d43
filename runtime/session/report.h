// SPDX-License-Identifier: Apache-2.0
// Sites and arming of a session as text.
#pragma once
#include <string>
#include <vector>

#include "runtime/install/install.h"
#include "runtime/output/stage_clock.h"
#include "runtime/session/session.h"

namespace dj {

// One line a site (--probes), on stderr.
void report_sites(const std::vector<InstalledSite>& sites);
// Those that are no plain jump, with the reason and their guard traps; the first hundred.
void report_unusual_sites(const std::vector<InstalledSite>& sites);
// Warnings about sites that could not be armed at all, one line a reason, on stderr.
void warn_skipped_sites(const std::vector<InstalledSite>& sites);

// A warning, once, if there were more semaphores than a session raises.
void warn_unraised(Session& session);

// What arm() came to, of a session with a target: the line of -v, all sites if `list`, the warnings
// if `warn`.
void report_arming(Session& session, StageClock& clock, bool list, bool warn);

}  // namespace dj
