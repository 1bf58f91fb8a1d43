// SPDX-License-Identifier: Apache-2.0
// DWARF expressions -> LocExpr. Only for this room.
#pragma once
#include <dwarf.h>
#include <elfutils/libdw.h>

#include <span>

#include "compiler/base/result.h"
#include "compiler/debuginfo/dwarf_index.h"
#include "compiler/debuginfo/value_location.h"

namespace dj {

// What the translation of one expression may ask about its surroundings.
struct OpContext {
  DwarfIndex& index;
  Dwarf_Die* function = nullptr;    // whose frame base DW_OP_fbreg means; may be null
  Dwarf_Attribute* attr = nullptr;  // the attribute the expression comes from
  uint64_t pc = 0;
  bool at_entry = false;
  int depth = 0;                    // expressions within expressions
  Dwarf_Die* variable = nullptr;    // whose place the expression is; may be null
  bool in_caller = false;           // the expression is a caller's, about what it passes
  const LocExpr* object = nullptr;  // yields the address of what a type's expression is about
  bool begins_with_object = false;  // that address is on the stack at the beginning
};

// The error's message is the reason a person reads: "it is split over several registers".
Result<ValueLocation> translate(std::span<const Dwarf_Op> ops, const OpContext& context);

// The canonical frame address at the context's pc.
Result<ValueLocation> frame_address(const OpContext& context);

}  // namespace dj
