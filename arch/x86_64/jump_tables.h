// SPDX-License-Identifier: Apache-2.0
// Where an indirect jump may go (checker.h, check 3).
//
// Every code address that a program jumps to is either written somewhere as an address (a data
// word, a relocation, a lea, an immediate: check 4 sees those) or computed. Compilers compute one
// kind:
//   gcc, clang, PIC:   lea table(%rip),%T; movslq (%T,%i,4),%x; add %T,%x; jmp *%x
// So a jump through an unchanged 8-byte value is as good as resolved, a table is read, anything
// else is unknown. What comes from the function's frame is what the function has put there.
#pragma once
#include <cstdint>
#include <vector>

#include "arch/x86_64/flow.h"

namespace dj::arch {

enum class Way : uint8_t {
  Pointer,  // a value that is an address somewhere else: only address-taken code can be meant
  Table,    // `targets` holds them all
  Unknown,
};

struct IndirectTargets {
  Way way = Way::Pointer;
  std::vector<uint64_t> targets;
};

// Of the JumpIndirect instruction `at`.
IndirectTargets indirect_targets(Flow& flow, const Module& module, uint32_t at);

}  // namespace dj::arch
