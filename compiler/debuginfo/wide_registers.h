// SPDX-License-Identifier: Apache-2.0
// Vectors of 32 bytes and more: registers where the code is built for AVX, else several or memory;
// only the code and its compiler's options tell. Only for this room.
#pragma once
#include <string>

#include "compiler/base/result.h"
#include "compiler/debuginfo/dwarf_index.h"
#include "compiler/debuginfo/types.h"

namespace dj {

constexpr uint64_t kMaxRegisterBytes = 16;  // of a vector register without AVX

bool is_vector_type(Dwarf_Die* stripped);
// A vector of 32 or 64 bytes, or a struct of nothing else.
bool is_wide_vector(TypeDie type, DwarfIndex& index);
// A long double, or a struct of nothing but one: passed in memory, but returned in st(0).
bool is_extended_struct(TypeDie type, DwarfIndex& index);

// Whether the function finds such an argument in vector register `number` (0..7), not on the stack.
// Unoptimized code keeps the whole register before it writes into it.
bool keeps_wide_register(Dwarf_Die* function, int number, DwarfIndex& index);

// How a function returns a vector of 32 or 64 bytes, or (is_struct) a struct of nothing else.
enum class WideReturn : uint8_t {
  Memory,    // that its caller provides
  Register,  // vector register 0
  Parts,     // 16 bytes each in vector registers 0, 1, ...: clang, where there is no AVX
};
// The error: it cannot be told, or the register cannot be read.
Result<WideReturn> wide_return(Dwarf_Die* function, uint64_t bytes, bool is_struct,
                               DwarfIndex& index);

// What the compiler of the DIE's unit says of itself.
std::string producer_of(Dwarf_Die* die);
// gcc compiled the DIE's unit: it notes so.
bool is_made_by_gcc(Dwarf_Die* die);

}  // namespace dj
