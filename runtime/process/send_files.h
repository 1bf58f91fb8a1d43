// SPDX-License-Identifier: Apache-2.0
// send_files() gives a target copies of djtap's own descriptors. The target makes a pair of
// sockets; djtap takes one end by pidfd_getfd() and sends the descriptors through it. djtap opens
// none of the target's files, so no process that shares the target's table of descriptors can put
// another file in between.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/process/remote_call.h"

namespace dj {

// Returns the number of each file in the target, where all are close-on-exec; the caller closes
// them there. The numbers may be wrong: the target's memory holds them. Raises the target's soft
// limit of open files meanwhile. Fails if the kernel refuses a call or the target's processes
// interfere.
Result<std::vector<uint64_t>> send_files(RemoteCall& call, std::span<const int> files);
// Closes these numbers in the target. Numbers that are no descriptors there are left out.
Status close_in(RemoteCall& call, std::vector<uint64_t> numbers);

}  // namespace dj
