// SPDX-License-Identifier: Apache-2.0
// Places in a function's frame as bytes above the canonical frame address (CFA), whatever register
// the debug information counts from. From 0 on lies what the caller has put onto the stack. Only
// for this room.
#pragma once
#include <optional>

#include "compiler/debuginfo/dwarf_index.h"

namespace dj {

// The address that `op` gives at pc; none: it is not in the frame, or the unwind table counts from
// another register there.
std::optional<int64_t> above_frame(const Dwarf_Op& op, uint64_t pc, Dwarf_Die* function,
                                   const DwarfIndex& index);

// The same of an operation that holds in the whole function. The code pushes arguments of its own
// calls for a while, so most places of it decide.
std::optional<int64_t> above_frame_mostly(const Dwarf_Op& op, Dwarf_Die* function,
                                          const DwarfIndex& index);

}  // namespace dj
