// SPDX-License-Identifier: Apache-2.0
// Exits that leave their function only sometimes: a conditional tail call, and an indirect jump
// whose targets are not all known. Their detours find out before the handlers run.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "arch/x86_64/decode.h"
#include "arch/x86_64/encode.h"
#include "arch/x86_64/text.h"

namespace dj::arch {

struct Leaving {
  enum How : uint8_t {
    Always,
    IfTaken,    // a conditional branch to another function
    IfOutside,  // when it goes to none of `inside`
  } how = Always;
  std::vector<FunctionRange> inside;  // at most kMaxInside
  // IfOutside: the register that holds where it goes, kOnStack: it is the word on top of the stack;
  // kNoReg: the operand of the instruction, an indirect jump.
  uint8_t target = kNoReg;
};
constexpr size_t kMaxInside = 4;
constexpr uint8_t kOnStack = 0xfe;
constexpr uint32_t kLeavingBytesMax = 192;  // of the code below, for one exit

// Whether the target of the indirect jump can be computed beforehand.
bool can_read_target(std::span<const uint8_t> bytes, const Insn& insn);

// IfTaken: the conditional branch, to a label that is returned and to be bound (bind_long) where
// the handlers and the jump to insn.target follow.
uint32_t put_branch_to_exit(Code& code, std::span<const uint8_t> bytes, const Insn& insn);

// IfOutside: where the target lies inside, does the instruction; else runs into what follows.
// Changes nothing.
Status put_inside_jump(Code& code, std::span<const uint8_t> bytes, const Insn& insn,
                       const Leaving& leaving);

}  // namespace dj::arch
