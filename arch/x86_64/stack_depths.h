// SPDX-License-Identifier: Apache-2.0
// StackDepths knows how far the stack pointer is below its value at the function's entry at each
// instruction. Code that control enters with one depth cannot be the target of a jump at another
// depth.
#pragma once
#include <cstdint>
#include <vector>

#include "arch/x86_64/module.h"

namespace dj::arch {

// TableJump is a jump by a table, with its targets.
struct TableJump {
  uint64_t address = 0;
  std::vector<uint64_t> targets;
};

class StackDepths {
 public:
  // Follows the function's branches from its first instruction on, and of `jumps` those targets
  // that lie in the function.
  StackDepths(const Function& function, const std::vector<TableJump>& jumps);

  // Whether the stack pointer is known to differ between two instructions, given by index. An
  // instruction that StackDepths has not reached differs from none.
  bool differ(size_t a, size_t b) const {
    return known(depths_[a]) && known(depths_[b]) && depths_[a] != depths_[b];
  }

 private:
  static constexpr int64_t kUnseen = INT64_MIN, kUnknown = INT64_MAX;
  static bool known(int64_t depth) { return depth != kUnseen && depth != kUnknown; }
  struct State {
    int64_t depth = 0;         // kUnknown: unknown
    int64_t frame = kUnknown;  // the same of the frame pointer
  };
  static void step(const Insn& insn, State& state);

  std::vector<int64_t> depths_;
};

}  // namespace dj::arch
