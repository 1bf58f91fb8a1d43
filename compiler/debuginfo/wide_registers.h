// Vectors of 32 bytes and more: registers where the code is built for AVX, else memory; only the
// code and its compiler's options tell. Only for this room.
#pragma once
#include "compiler/debuginfo/dwarf_index.h"
#include "compiler/result.h"

namespace dj {

// Whether the function finds such an argument in vector register `number` (0..7), not on the stack.
// Unoptimized code keeps the whole register before it writes into it.
bool keeps_wide_register(Dwarf_Die* function, int number, DwarfIndex& index);

// Whether the function returns a vector of that many bytes in memory that its caller provides, not
// in vector register 0. The error: it cannot be told, or the register cannot be read.
Result<bool> returns_wide_in_memory(Dwarf_Die* function, uint64_t bytes, DwarfIndex& index);

}  // namespace dj
