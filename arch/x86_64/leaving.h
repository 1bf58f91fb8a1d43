// SPDX-License-Identifier: Apache-2.0
// Leaving describes an exit that leaves its function only sometimes: a conditional tail call, or an
// indirect jump some of whose targets are unknown. The exit's detour finds out before the handlers
// run.
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
    IfOutside,  // when the target is in none of `inside`
  } how = Always;
  std::vector<FunctionRange> inside;  // at most kMaxInside
  // IfOutside: the register that holds the target. kOnStack: the word on top of the stack holds it.
  // kNoReg: the operand of the instruction, an indirect jump, holds it.
  uint8_t target = kNoReg;
};
constexpr size_t kMaxInside = 4;
constexpr uint8_t kOnStack = 0xfe;
constexpr uint32_t kLeavingBytesMax = 192;  // at most, of the code that the functions below write
                                            // for one exit

// Whether code can compute the target of the indirect jump before the jump runs.
bool can_read_target(std::span<const uint8_t> bytes, const Insn& insn);

// IfTaken: writes the conditional branch and returns its label. The caller binds the label
// (bind_long()) where it writes the handlers and the jump to insn.target.
uint32_t put_branch_to_exit(Code& code, std::span<const uint8_t> bytes, const Insn& insn);

// IfOutside: writes code that runs the instruction if its target lies in leaving.inside, else falls
// through to the code that follows. That code changes no register, flag or stack word of the
// program.
Status put_inside_jump(Code& code, std::span<const uint8_t> bytes, const Insn& insn,
                       const Leaving& leaving);

}  // namespace dj::arch
