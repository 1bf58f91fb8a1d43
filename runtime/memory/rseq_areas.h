// SPDX-License-Identifier: Apache-2.0
// Threads' rseq areas, by which handlers tell who may count without a lock: each must say whether
// its thread, and no other, is registered (runtime/agent/rseq_area.h sees to the later ones).
#pragma once
#include <cstdint>

#include "compiler/base/result.h"
#include "runtime/process/stopped.h"

namespace dj {

// Fails (Unsupported) where a thread's fs base leads to no control block of the C library: handlers
// would look for an area where anything may be, or nothing.
Status check_control_blocks(const Stopped& stopped);

// Before the first handler runs. Says in the ThreadTable at `threads` how areas are registered, or
// will be (`expected`, whose offset is always known), and sees to those of threads that share their
// fs base.
Status take_shared_areas(Stopped& stopped, uint64_t threads, const RseqArea& expected);

// Registers them again, also those that the agent has taken since, if the table is that of the
// session whose memory is `inode`.
Status return_shared_areas(Stopped& stopped, uint64_t threads, uint64_t inode);

}  // namespace dj
