// SPDX-License-Identifier: Apache-2.0
// How Rust's functions take and return values. No document describes it: what is here is what the
// versions of rustc have in common; where they differ, the answer is "not known". Only for this
// room.
#pragma once
#include "compiler/debuginfo/passing.h"

namespace dj {

// The DIE's unit is of Rust's compiler.
bool is_rust(Dwarf_Die* die);

// How a value of this type travels in Rust; none: not known.
std::optional<Passing> passing_in_rust(TypeDie type, DwarfIndex& index);

// The same of a function's parameter. Not known either of one that takes more than two words and
// lies in the frame, or above it, by the debug information: an `extern "C"` function's caller has
// put it there, or a Rust function's its address.
std::optional<Passing> parameter_in_rust(Dwarf_Die* function, Dwarf_Die* parameter,
                                         DwarfIndex& index);

// What the caller puts onto the stack of a parameter for which too few registers are left.
struct StackPart {
  uint64_t offset = 0;    // above the return address
  bool is_split = false;  // the first of the two words is in the last register
};
// left: registers for integers; stack: bytes that the parameters before it take. None: not known. A
// Rust function takes pairs word by word and an `extern "C"` one as a whole. Of numbers of 16 bytes
// versions of LLVM split some, align some, and leave the last register unused for some.
std::optional<StackPart> stacked_in_rust(Dwarf_Die* function, Dwarf_Die* parameter,
                                         const Passing& passing, int left, uint64_t stack,
                                         DwarfIndex& index);

// Whether a place above the frame, which the debug information names, may hold the address of what
// a Rust function has there.
bool may_be_address(Dwarf_Die* function, Dwarf_Die* variable, DwarfIndex& index);

// The same of the one place that the debug information gives somewhere in the function. Of what is
// anywhere above the frame, on the stack of the caller, who may have put the address there, the
// places that count from other registers (copies of rsp) are as doubtful. rustc describes both
// alike.
bool may_be_address_at(Dwarf_Die* function, Dwarf_Die* variable, const Dwarf_Op& place,
                       DwarfIndex& index);

// Whether a caller gives the address of a result of this type; none: not known.
std::optional<bool> is_returned_in_memory_by_rust(TypeDie type, DwarfIndex& index);

}  // namespace dj
