// SPDX-License-Identifier: Apache-2.0
// denied_by_filters() tells which system calls the seccomp filters of a process deny. It reads the
// filters from the threads; each thread may have filters of its own.
#pragma once
#include <sys/types.h>

#include <cstdint>

#include "compiler/base/result.h"
#include "runtime/process/stopped.h"

namespace dj {

// Whether a thread runs under seccomp, by a filter or in strict mode. False also if there is no
// such thread.
bool is_confined(pid_t tid);
// Whether any thread of the process runs under seccomp. Stops no thread.
bool has_confined_threads(pid_t pid);

// Returns the calls of abi::kAskedCalls that some thread of `stopped` may not make, as bits of
// asked_bit(). Fails with Permission if djtap cannot read a filter: the kernel shows it to a tracer
// that has CAP_SYS_ADMIN and runs under no filter itself. Fails with Unsupported if a filter looks
// at the addresses that make the calls, or if there are too many filters. Call it in the thread of
// djtap that has stopped them.
Result<uint64_t> denied_by_filters(const Stopped& stopped);

}  // namespace dj
