// SPDX-License-Identifier: Apache-2.0
// report_stress() prints what --stress, a counting probe on every function, says about the engine
// when its session ends.
#pragma once
#include <string>
#include <vector>

#include "compiler/stages/layout.h"
#include "compiler/stages/program.h"
#include "runtime/output/stage_clock.h"
#include "runtime/session/session.h"

namespace dj {

// StressFacts: what the table tells of an armed session. Take it before the probes are removed.
struct StressFacts {
  std::string program;  // path of the executable, where functions of it are looked for; else empty
  std::vector<InstalledSite> sites;
  ArmReport arming;
};
StressFacts stress_facts(const Session& session, std::string program);

// Prints sites by kind, state and reason; milliseconds; hits; busiest functions, on stderr. `clock`
// ends with the stage "run".
void report_stress(const StressFacts& facts, const StageClock& clock, const Program& program,
                   const Layout& layout);

}  // namespace dj
