// SPDX-License-Identifier: Apache-2.0
// A process that leaves a session to join it again stands in between, so that no hit is missed:
// from the last moment of its old probes to the first of its new ones.
#pragma once
#include <cstdint>
#include <functional>
#include <set>

#include "compiler/base/result.h"
#include "runtime/target/process/lead_outside.h"
#include "runtime/target/process/traced_process.h"

namespace dj {

// Unmaps what the session has left in the process, whose text is as it was, and returns the
// process, standing. clear: does that once; false: a thread may come back to the code. Then the
// process runs on, without probes, until none may, for some seconds at most; `serve` is called
// meanwhile.
using Clear = std::function<Result<bool>(Stopped&)>;
Result<TracedProcess> stand_again(Stopped stopped, const Clear& clear, const Serve& serve);

// Takes the session out of a process that another one of the session has forked. memories: of all
// processes of the session (ProcessTarget::memories()). As stop_outside() and stand_again().
Result<TracedProcess> take_fork(int pid, const std::set<uint64_t>& memories, const Serve& serve);

}  // namespace dj
