// SPDX-License-Identifier: Apache-2.0
// Doubts: the guards that a jump gets in a function with jump tables, in case one was read wrong.
//
// A table that is read too short hides places where control arrives. An int3 on each instruction
// that the table's jump could lead to, for all that is known without the table, makes such an
// arrival go on in the detour. It cannot lead
//   to an instruction that is reached with another stack pointer than the jump has (StackDepths),
//   to one that reads the flags, which the jump's own sum has written,
//   to a `syscall`, whose number an instruction before it has just set,
//   to no-operations behind a jump or return, which align what follows.
#pragma once
#include <vector>

#include "arch/x86_64/safety.h"
#include "arch/x86_64/stack_depths.h"

namespace dj::arch {

class Doubts {
 public:
  // `function` and `jumps`, the function's, must outlive this object.
  Doubts(const Function& function, const std::vector<TableJump>& jumps)
      : function_(function), jumps_(jumps), depths_(function, jumps) {}

  // Adds to Region::doubts where the jumps could lead into a region within the function.
  void mark(Region& region) const;

 private:
  bool may_lead_to(size_t insn) const;

  const Function& function_;
  const std::vector<TableJump>& jumps_;
  const StackDepths depths_;
};

}  // namespace dj::arch
