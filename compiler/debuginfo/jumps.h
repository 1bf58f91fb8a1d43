// SPDX-License-Identifier: Apache-2.0
// Jumps: DW_OP_bra and DW_OP_skip of one DWARF expression become labels and jumps of a LocExpr.
// Only for this room.
#pragma once
#include <map>
#include <optional>
#include <span>

#include "compiler/debuginfo/typed_stack.h"

namespace dj {

class Jumps {
 public:
  // Where the expression's jumps lead to; the error: not to one of its operations.
  Status find(std::span<const Dwarf_Op> ops);
  // Before operation i (ops.size(): behind the last one): its label, if jumps lead there.
  Status arrive_at(size_t i, TypedStack& stack);
  // Operation i is a jump.
  Status jump(std::span<const Dwarf_Op> ops, size_t i, TypedStack& stack);
  // False behind a jump that is always taken, until the next label.
  bool reachable() const { return reachable_; }
  // Another expression's steps as part of this one, which has labels of its own.
  std::vector<LocStep> adopted(std::vector<LocStep> steps);

  static bool is_jump(const Dwarf_Op& op) { return op.atom == DW_OP_bra || op.atom == DW_OP_skip; }

 private:
  struct Target {
    int64_t number = 0;                          // of its label
    std::optional<std::vector<WordType>> words;  // what the stack is there, once that is known
    bool passed = false;                         // jumps from here on are backwards
  };
  static Status arrive(Target& target, const TypedStack& stack);

  std::map<size_t, Target> targets_;  // by the operation that they stand before
  int64_t next_label_ = 0;
  bool reachable_ = true;
};

}  // namespace dj
