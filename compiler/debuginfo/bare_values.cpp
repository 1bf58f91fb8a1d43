// SPDX-License-Identifier: Apache-2.0
// The version of a location's unit, and which operations it uses.
#include "compiler/debuginfo/bare_values.h"

#include <dwarf.h>

#include <algorithm>

namespace dj {
namespace {

// Does the operation need nothing but what others have left on the stack? By the numbers of the
// standard: constants and moves on the stack, arithmetic, comparisons, small constants.
bool is_of_constants(uint8_t atom) {
  const auto within = [atom](int first, int last) { return atom >= first && atom <= last; };
  return within(DW_OP_const1u, DW_OP_rot) || within(DW_OP_abs, DW_OP_xor) ||
         within(DW_OP_eq, DW_OP_ne) || within(DW_OP_lit0, DW_OP_lit31);
}

bool is_of_entry(uint8_t atom) {
  return atom == DW_OP_entry_value || atom == DW_OP_GNU_entry_value;
}

}  // namespace

bool is_bare_value(std::span<const Dwarf_Op> ops, Dwarf_Attribute* location) {
  const bool constant = !ops.empty() && std::ranges::all_of(ops, is_of_constants, &Dwarf_Op::atom);
  if (!constant && !(ops.size() == 1 && is_of_entry(ops[0].atom))) return false;
  Dwarf_Die unit;
  Dwarf_Half version = 0;
  return dwarf_cu_die(location->cu, &unit, &version, nullptr, nullptr, nullptr, nullptr, nullptr) &&
         version < 4;
}

}  // namespace dj
