// SPDX-License-Identifier: Apache-2.0
// part_offset(): where a member or a base begins in its struct.
#pragma once
#include <cstdint>
#include <optional>

#include "compiler/debuginfo/dwarf_index.h"

namespace dj {

// In bytes; 0 where debug info says nothing (a union's). Nothing: only the running program knows,
// as of virtual bases. Until DWARF 3 it is an expression, which adds a number to the struct's
// address.
std::optional<uint64_t> part_offset(Dwarf_Die* part);

}  // namespace dj
