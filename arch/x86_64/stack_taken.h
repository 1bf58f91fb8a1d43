// SPDX-License-Identifier: Apache-2.0
// stack_taken() tells by how much an instruction moves the stack pointer.
#pragma once
#include <cstdint>
#include <optional>

#include "arch/x86_64/decode.h"
#include "arch/x86_64/registers.h"

namespace dj::arch {

// Returns the bytes that the instruction takes from the stack; below 0: it gives them back; empty:
// unknown.
inline std::optional<int64_t> stack_taken(const Insn& insn) {
  if (!insn.legacy || insn.map != 0) return 0;
  const uint8_t op = insn.opcode;
  if ((op & 0xf8) == 0x50 || op == 0x68 || op == 0x6a || op == 0x9c) return 8;  // push
  if ((op & 0xf8) == 0x58 || op == 0x9d || op == 0x8f) return -8;               // pop
  if (op == 0xff && insn.has_modrm && (insn.reg & 7) == 6) return 8;            // push r/m
  const bool on_sp = insn.has_modrm && insn.mod == 3 && insn.rm == kSp;
  if ((op == 0x81 || op == 0x83) && on_sp) {
    if ((insn.reg & 7) == 0) return -insn.imm;
    return (insn.reg & 7) == 5 ? std::optional(insn.imm) : std::nullopt;
  }
  if (op == 0x8d && insn.reg == kSp)
    return insn.base == kSp && insn.index == kNoReg ? std::optional(-int64_t(insn.disp))
                                                    : std::nullopt;
  const bool moved = (op == 0x89 && on_sp) || (op == 0x8b && insn.reg == kSp);
  return op == 0xc9 || moved ? std::nullopt : std::optional<int64_t>(0);  // leave, mov to rsp
}

}  // namespace dj::arch
