// SPDX-License-Identifier: Apache-2.0
// What the seccomp filters of a process deny to calls that are made in it, read from its threads.
// Each thread may have filters of its own.
#pragma once
#include <sys/types.h>

#include <cstdint>

#include "compiler/base/result.h"
#include "runtime/process/stopped.h"

namespace dj {

// Whether a thread runs under seccomp, by a filter or in strict mode. False also where there is no
// such thread.
bool is_confined(pid_t tid);
// The same of any thread of the process; nothing of it is stopped.
bool has_confined_threads(pid_t pid);

// The calls of abi::kAskedCalls, as asked_bit() has them, that some thread of `stopped` may not
// make. Fails (Permission) where a filter cannot be read: the kernel shows it to a tracer that has
// CAP_SYS_ADMIN and runs under no filter itself; fails (Unsupported) where one looks at the
// addresses that calls are made from, or where there are too many. Call it in the thread that has
// stopped them.
Result<uint64_t> denied_by_filters(const Stopped& stopped);

}  // namespace dj
