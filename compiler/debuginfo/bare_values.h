// SPDX-License-Identifier: Apache-2.0
// Values that an expression says to be places. Before DWARF 4 there is no DW_OP_stack_value, and
// clang leaves it out.
#pragma once
#include <elfutils/libdw.h>

#include <span>

namespace dj {

// Does the expression, or the one of a piece, give a value? So do constants and what is computed of
// them alone, as no variable's place is, and a parameter's value at its function's entry. Where
// clang computes with registers it writes no location before DWARF 4. `location`: its attribute.
bool is_bare_value(std::span<const Dwarf_Op> ops, Dwarf_Attribute* location);

}  // namespace dj
