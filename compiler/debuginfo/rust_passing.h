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

// The same of a parameter. Not known either of one that takes more than two words and lies in the
// frame by the debug information: an `extern "C"` function's caller has put it there, or a Rust
// function's its address.
std::optional<Passing> parameter_in_rust(Dwarf_Die* parameter, DwarfIndex& index);

// Whether a place above the frame, which the debug information names, may hold the address of the
// Rust function's parameter.
bool may_be_address(Dwarf_Die* function, Dwarf_Die* parameter, DwarfIndex& index);

// The same of the one place that the debug information gives at pc, if that lies above the frame:
// on the stack of the caller, who may have put the address there. rustc describes both alike.
bool may_be_address_at(Dwarf_Die* function, Dwarf_Die* parameter, const Dwarf_Op& place,
                       uint64_t pc, DwarfIndex& index);

// Whether a caller gives the address of a result of this type; none: not known.
std::optional<bool> is_returned_in_memory_by_rust(TypeDie type, DwarfIndex& index);

}  // namespace dj
