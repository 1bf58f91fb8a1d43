// SPDX-License-Identifier: Apache-2.0
// rejoin_all() probes the processes of a session anew, by the script as it is now: each leaves the
// session and joins it again, and stands in between, so that no hit is missed.
#pragma once
#include <string>
#include <vector>

#include "runtime/run/joined_processes.h"
#include "runtime/session/session.h"
#include "runtime/target/process/stand_again.h"

namespace dj {

// serve: stand_again(). A process that has forked others comes before them; one that ends meanwhile
// is no failure. Returns a sentence for each process that was not probed anew.
std::vector<std::string> rejoin_all(Session& session, JoinedProcesses& joined, const Serve& serve);

}  // namespace dj
