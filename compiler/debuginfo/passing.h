// SPDX-License-Identifier: Apache-2.0
// Classes of values by the System V ABI (3.2.3): in which registers, or in what memory, a value of
// a type travels. Only for this room.
#pragma once
#include "compiler/debuginfo/dwarf_index.h"
#include "compiler/debuginfo/types.h"

namespace dj {

// What one of the two 8 bytes that fit into registers holds. Upper: the rest of a vector register.
enum class Part { None, Upper, Vector, Integer };

// How one argument travels: integer and vector registers it takes, or memory.
struct Passing {
  int integer = 0, vector = 0;
  bool memory = false;
  bool aggregate = false;
  bool by_reference = false;  // the register holds the object's address
  bool is_unknown = false;    // registers or memory: nothing tells what is packed
  bool wide_vector = false;   // of 32 bytes or more: memory where the code is not built for AVX
  Part parts[2] = {Part::None, Part::None};
  uint64_t stack_bytes = 8;
  uint64_t stack_align = 8;
};

// How a value of this type travels in C and C++.
Passing passing_of(TypeDie type, DwarfIndex& index);
Passing passing_by_address();
// The same of one of a function's parameters; none: not known (Rust's pairs of small numbers).
std::optional<Passing> passing_of_parameter(Dwarf_Die* function, Dwarf_Die* parameter,
                                            DwarfIndex& index);

// On the stack a value begins at a multiple of this, but at least of 8.
uint64_t alignment_of(TypeDie type, DwarfIndex& index, int depth = 0);
// A class whose objects are not trivial to copy: they travel as their address.
bool travels_as_address(TypeDie type, DwarfIndex& index, int depth = 0);

}  // namespace dj
