// SPDX-License-Identifier: Apache-2.0
// copy_entry() tells where an inlined copy is entered each time. Only for this room.
#pragma once
#include <cstdint>

#include "compiler/debuginfo/module.h"

namespace dj {

// Returns the address of the copy's first instruction. Where a loop begins with the copy, the nops
// that align the loop belong to the copy by the debug information: they run once, and each round
// enters behind them. A loop of the copy's own is entered once, so its nops are kept.
uint64_t copy_entry(Module& file, const InlineHit& hit);

}  // namespace dj
