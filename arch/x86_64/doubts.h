// SPDX-License-Identifier: Apache-2.0
// Doubts finds the guards that a jump gets in a function with jump tables, in case djtap read a
// table wrong.
//
// A table that djtap reads too short hides places where control arrives. djtap puts an int3 on each
// instruction that the table's jump could lead to by what djtap knows without the table; an arrival
// there goes on in the detour. The jump cannot lead
//   to an instruction that control reaches with another stack pointer than the jump has
//   (StackDepths),
//   to one that reads the flags, which the jump's own sum has written,
//   to a `syscall`, whose number an instruction before it has just set,
//   to no-operations behind a jump or return, which align the instructions behind them.
#pragma once
#include <vector>

#include "arch/x86_64/safety.h"
#include "arch/x86_64/stack_depths.h"

namespace dj::arch {

class Doubts {
 public:
  // `jumps` are the function's. Both arguments must outlive this object.
  Doubts(const Function& function, const std::vector<TableJump>& jumps)
      : function_(function), jumps_(jumps), depths_(function, jumps) {}

  // Adds to Region::doubts the instructions of a region within the function that the jumps could
  // lead to.
  void mark(Region& region) const;

 private:
  bool may_lead_to(size_t insn) const;

  const Function& function_;
  const std::vector<TableJump>& jumps_;
  const StackDepths depths_;
};

}  // namespace dj::arch
