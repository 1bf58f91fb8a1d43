// SPDX-License-Identifier: Apache-2.0
// map_in() maps memory in the target within the target's limits. limit_reached() names the limit
// that leaves no room. The target's memory locks alone do not keep djtap out.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <string>

#include "compiler/base/result.h"
#include "runtime/process/remote_call.h"

namespace dj {

// RemoteMapping holds the arguments of mmap().
struct RemoteMapping {
  uint64_t address = 0, bytes = 0, protection = 0, flags = 0;
  uint64_t fd = ~uint64_t{0}, offset = 0;
};
// Returns a text that names the limit of the process that leaves no room for such a mapping; empty:
// all leave room.
std::string limit_reached(pid_t pid, const RemoteMapping& wanted);

// Calls mmap() in the target and returns the address. A program that locks all that it maps
// (mlockall) does not lock this mapping: it need not fit the program's limit, nor be in memory
// before its use. `what`: for the Error. The address is wanted.address if that is set, and lies in
// whole pages that a program may have.
Result<uint64_t> map_in(RemoteCall& call, const char* what, const RemoteMapping& wanted);

}  // namespace dj
