// SPDX-License-Identifier: Apache-2.0
// move_linked() makes of code that is linked for one base what it is at another one.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/stages/image.h"

namespace dj {

// Changes `bytes`, which are linked for `base`, to what they are at `to`. False: a distance would
// not fit, and `bytes` are undefined.
bool move_linked(std::span<uint8_t> bytes, const std::vector<CodeMove>& moves, uint64_t base,
                 uint64_t to);
// Returns `linked`, which is for `base`, as it is for the base `to`.
Linked moved(const Linked& linked, uint64_t base, uint64_t to);

}  // namespace dj
