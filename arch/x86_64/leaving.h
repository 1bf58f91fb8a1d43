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
    IfOutside,  // an indirect jump, when its target is not behind the begin of one of `inside`
  } how = Always;
  std::vector<FunctionRange> inside;  // the function's parts; at most kMaxInside
};
constexpr size_t kMaxInside = 4;
constexpr uint32_t kLeavingBytesMax = 192;  // of the code below, for one exit

// Whether the target of the indirect jump can be computed beforehand.
bool can_read_target(std::span<const uint8_t> bytes, const Insn& insn);

// IfTaken: the conditional branch, to a label that is returned and to be bound (bind_long) where
// the handlers and the jump to insn.target follow.
uint32_t put_branch_to_exit(Code& code, std::span<const uint8_t> bytes, const Insn& insn);

// IfOutside: where the target lies inside, jumps there; else runs into what follows. Changes
// nothing.
Status put_inside_jump(Code& code, std::span<const uint8_t> bytes, const Insn& insn,
                       const std::vector<FunctionRange>& inside);

}  // namespace dj::arch
