// DWARF expressions -> LocExpr. Only for this room.
#pragma once
#include <dwarf.h>
#include <elfutils/libdw.h>

#include <span>

#include "compiler/debuginfo/dwarf_index.h"
#include "compiler/location.h"
#include "compiler/result.h"

namespace dj {

// Spot: where a value is. Memory: `expr` yields its address. Value: `expr` yields the value itself.
struct Spot {
  LocExpr expr;
  enum Kind : uint8_t { Memory, Value } kind = Memory;
  bool in_frame = false;  // Memory: provably in the current stack frame, so a read cannot fault
  int reg = -1;           // Value: the whole of this register
};

// What the translation of one expression may ask about its surroundings.
struct OpContext {
  DwarfIndex& index;
  Dwarf_Die* function = nullptr;    // whose frame base DW_OP_fbreg means; may be null
  Dwarf_Attribute* attr = nullptr;  // the attribute the expression comes from
  uint64_t pc = 0;
  bool at_entry = false;
  int depth = 0;  // expressions within expressions
};

// The error's message is the reason a person reads: "it is split over several registers".
Result<Spot> translate(std::span<const Dwarf_Op> ops, const OpContext& context);

// The canonical frame address at the context's pc.
Result<Spot> frame_address(const OpContext& context);

// Appends "+ n" to an expression that ends with a word on its stack.
void add_constant(LocExpr& expr, int64_t n);
// Loads the value of `size` bytes that lies at a Memory spot, or cuts a Value spot to that size.
LocExpr load(const Spot& spot, uint8_t size, bool is_signed);

}  // namespace dj
