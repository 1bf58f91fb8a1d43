// SPDX-License-Identifier: Apache-2.0
// take_out_probes(): the way back. What a session has written into the target, and into what that
// has forked, is put back.
#pragma once
#include <optional>

#include "runtime/process/exit_watch.h"
#include "runtime/session/session.h"

namespace dj {

struct TakenOut {
  bool gone = false;  // the target has ended
  bool all = true;    // no process has anything left
};

// Takes the probes out of the target, if that still runs, and out of what it has forked, which may
// live on; tells what cannot be done. watch: none, there is no target. verbose: tells in how many
// forked processes there were probes, too.
TakenOut take_out_probes(Session& session, const std::optional<ExitWatch>& watch, bool verbose);

}  // namespace dj
