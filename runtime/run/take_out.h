// SPDX-License-Identifier: Apache-2.0
// take_out_probes() undoes what a session has written into the target and into what the target has
// forked.
#pragma once
#include <optional>

#include "runtime/process/exit_watch.h"
#include "runtime/session/session.h"

namespace dj {

struct TakenOut {
  bool gone = false;  // the target has ended
  bool all = true;    // no process has probes left
};

// Takes the probes out of the target, if that still runs, and out of the processes that it has
// forked, which may live on. Tells what it cannot do. watch: of the probed process; empty: no
// process is probed. verbose: also tells how many forked processes had probes.
TakenOut take_out_probes(Session& session, const std::optional<ExitWatch>& watch, bool verbose);

}  // namespace dj
