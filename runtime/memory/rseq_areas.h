// SPDX-License-Identifier: Apache-2.0
// take_shared_areas() prepares threads' rseq areas, by which handlers tell which thread may count
// without a lock: each area must say whether its thread, and no other, is registered.
// runtime/agent/rseq_area.h prepares those of later threads.
#pragma once
#include <cstdint>

#include "compiler/base/result.h"
#include "runtime/process/stopped.h"

namespace dj {

// Fails (Unsupported) where a thread's fs base leads to no control block of the C library: handlers
// would look for an area where there are other data, or nothing.
Status check_control_blocks(const Stopped& stopped);

// Writes into the ThreadTable at `threads` how areas are registered, or will be (`expected`, whose
// offset is always known). Unregisters the areas of threads that share their fs base. Call it
// before the first handler runs.
Status take_shared_areas(Stopped& stopped, uint64_t threads, const RseqArea& expected);

// Registers those areas again, also those that the agent has unregistered since, if the table is
// that of the session whose memory is `inode`.
Status return_shared_areas(Stopped& stopped, uint64_t threads, uint64_t inode);

}  // namespace dj
