// The end of a session as text: hits that did not do all they should have, sites.
#pragma once
#include <string>
#include <vector>

#include "compiler/stages/layout.h"
#include "compiler/stages/plan.h"
#include "compiler/stages/program.h"
#include "runtime/install/install.h"
#include "runtime/output/stage_clock.h"
#include "runtime/session/session.h"

namespace dj {

// One line for every reason in Header::skipped that happened, on stderr. layout: where the arrays
// are that may have been full; the arena is still mapped.
void report_skips(const ToldWords& words, const Program& program, const Plan& plan,
                  const Layout& layout);

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
