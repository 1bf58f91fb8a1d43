// SPDX-License-Identifier: Apache-2.0
// stop_outside() stops a process with none of its threads in code of the session, so that this code
// can go and no hit is missed.
#pragma once
#include <functional>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/process/stopped.h"

namespace dj {

// Serve answers threads that wait for djtap in code of the session.
using Serve = std::function<void()>;
// FindCode gives the session's code in a process all of whose threads stand, or fails where the
// process runs another program.
using FindCode = std::function<Result<std::vector<AddressRange>>(const Stopped&)>;
// Rewind sends threads that have hit an int3 of the session, and not got its SIGTRAP, back to it.
using Rewind = std::function<Status(Stopped&)>;

struct Outside {
  FindCode find_code;
  Rewind rewind;
  Serve serve;
};

// Stops the process; a thread of it that waits in vfork for one that waits for djtap is served.
// Gives up after some seconds.
Result<Stopped> stop_served(int pid, const Serve& serve);

// The same, and leads all threads out of the code. Unsupported: registers that are saved somewhere
// lead back to it for as long as two seconds.
Result<Stopped> stop_outside(int pid, const Outside& outside);

}  // namespace dj
