// SPDX-License-Identifier: Apache-2.0
// send_files() gives a target copies of djtap's own descriptors. The target makes a pair of
// sockets; djtap takes one end by pidfd_getfd() and sends the descriptors through it. djtap opens
// none of the target's files, so no process that shares the target's table of descriptors can put
// another file in between.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/process/remote_call.h"

namespace dj {

// The number of each file in the target, and of the sockets by which they came; all are
// close-on-exec, and the caller closes all of them there. The numbers may be wrong: the target's
// memory holds them.
struct SentFiles {
  std::vector<uint64_t> files, sockets;
};

// Raises the target's soft limit of open files meanwhile. Fails if the kernel refuses a call or the
// target's processes interfere; nothing is left to close then.
Result<SentFiles> send_files(RemoteCall& call, std::span<const int> files);
// The number that a target which is_fresh() gets for the next descriptor that it opens, by what it
// has open now. Empty: not known.
std::optional<uint64_t> next_descriptor(int pid);
// The name by which a target that may look at djtap can open one of djtap's files, if /proc is
// there what it is here.
std::string name_of_file(int fd);

// Closes these numbers in the target. Numbers that are no descriptors there are left out.
Status close_in(RemoteCall& call, std::vector<uint64_t> numbers);

}  // namespace dj
