// SPDX-License-Identifier: Apache-2.0
// Memory in the target, within its limits: what it locks in memory need not keep djtap out, and
// what does is named.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <string>

#include "compiler/base/result.h"
#include "runtime/process/remote_call.h"

namespace dj {

// Arguments of mmap().
struct RemoteMapping {
  uint64_t address = 0, bytes = 0, protection = 0, flags = 0;
  uint64_t fd = ~uint64_t{0}, offset = 0;
};
// What of the process's limits leaves no room for such a mapping; empty: nothing does.
std::string limit_reached(pid_t pid, const RemoteMapping& wanted);

// mmap() in the target. A program that locks all it maps (mlockall) does not lock that: it need not
// be in its limit, nor in memory before it is used. `what`: for the Error.
// The address is `wanted`'s, where that has one, and lies in whole pages that a program may have.
Result<uint64_t> map_in(RemoteCall& call, const char* what, const RemoteMapping& wanted);

}  // namespace dj
