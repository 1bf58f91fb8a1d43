// SPDX-License-Identifier: Apache-2.0
// Gives a target descriptors of djtap's own. The target makes a pair of sockets, djtap takes one
// end by pidfd_getfd() and sends the descriptors through it: djtap opens nothing that the target
// has, so no process that shares the target's table of descriptors can put another file in between.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/process/remote_call.h"

namespace dj {

// Returns the number of each file in the target, where all are close-on-exec; the caller closes
// them. The numbers may be wrong: the target's memory holds them. The target's soft limit of open
// files is raised meanwhile. Errors: the kernel refuses a call, or the target's processes
// interfere.
Result<std::vector<uint64_t>> send_files(RemoteCall& call, std::span<const int> files);

}  // namespace dj
