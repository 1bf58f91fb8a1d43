// SPDX-License-Identifier: Apache-2.0
// indirect_targets() finds where an indirect jump may go (checker.h, check 3).
//
// A program holds every code address that it jumps to as an address (a data word, a relocation, a
// lea, an immediate: check 4 sees those) or computes it. Compilers compute one kind:
//   gcc, clang, PIC:   lea table(%rip),%T; movslq (%T,%i,4),%x; add %T,%x; jmp *%x
// So check 4 covers a jump through an unchanged 8-byte value, djtap reads a table, and the targets
// of any other jump are unknown. A value from the function's frame is the one that the function has
// put there.
#pragma once
#include <cstdint>
#include <vector>

#include "arch/x86_64/flow.h"

namespace dj::arch {

enum class Way : uint8_t {
  Pointer,  // an address that the program holds elsewhere: only address-taken code can be its
            // target
  Table,    // `targets` holds them all
  Unknown,
};

struct IndirectTargets {
  Way way = Way::Pointer;
  std::vector<uint64_t> targets;
};

// Returns the targets of the JumpIndirect instruction with index `at`.
IndirectTargets indirect_targets(Flow& flow, const Module& module, uint32_t at);

}  // namespace dj::arch
