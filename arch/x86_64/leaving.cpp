// SPDX-License-Identifier: Apache-2.0
// Code that finds out whether an exit instruction is going to leave its function.
#include "arch/x86_64/leaving.h"

#include "arch/x86_64/detour_frame.h"
#include "arch/x86_64/registers.h"
#include "arch/x86_64/relocate.h"

namespace dj::arch {
namespace {

constexpr uint8_t kJb = 0x72, kJmpShort = 0xeb;

// mov operand,%r11. `below`: bytes by which the stack pointer lies lower than the program's.
Status put_operand_in_r11(Code& code, const Insn& insn, int32_t below) {
  constexpr uint8_t kWide = 0x48, kR = 4, kX = 2, kB = 1, kMove = 0x8b;
  constexpr uint8_t kReg11 = 3 << 3;  // r11 in ModRM's reg field, its high bit in REX.R
  if (!insn.memory()) {
    code.put({uint8_t(kWide | kR | (insn.rm >= 8 ? kB : 0)), kMove,
              uint8_t(0xc0 | kReg11 | (insn.rm & 7))});
    return ok_status();
  }
  if (insn.rip_relative) return code.branch({kWide | kR, kMove, kReg11 | 5}, insn.target);
  const bool based = insn.base != kNoReg, indexed = insn.index != kNoReg;
  uint8_t scale = 0;
  while (insn.scale >> scale > 1) scale++;
  const uint8_t rex = uint8_t(kWide | kR | (indexed && insn.index >= 8 ? kX : 0) |
                              (based && insn.base >= 8 ? kB : 0));
  code.put(
      {rex, kMove, uint8_t((based ? 0x80 : 0) | kReg11 | 4),  // SIB follows, disp32
       uint8_t(scale << 6 | (indexed ? insn.index & 7 : 4) << 3 | (based ? insn.base & 7 : 5))});
  code.put_u32(uint32_t(insn.disp + (insn.base == kSp ? below : 0)));
  return ok_status();
}

Status put_target_in_r11(Code& code, const Insn& insn, uint8_t target, int32_t below) {
  Insn operand = insn;
  if (target == kOnStack) {
    operand.has_modrm = true;
    operand.rip_relative = false;
    operand.mod = 0;
    operand.base = kSp;
    operand.index = kNoReg;
    operand.disp = 0;
  } else if (target != kNoReg) {
    operand.mod = 3;
    operand.rm = target;
  }
  return put_operand_in_r11(code, operand, below);
}

// lea address(%rip),%rax; cmp %rax,%r11
Status put_compare(Code& code, uint64_t address) {
  DJ_TRY_DO(code.branch({0x48, 0x8d, 0x05}, address));
  code.put({0x49, 0x39, 0xc3});
  return ok_status();
}

}  // namespace

bool can_read_target(std::span<const uint8_t> bytes, const Insn& insn) {
  for (uint8_t i = 0; i < insn.prefixes; i++) {
    if (bytes[i] == 0x64 || bytes[i] == 0x65 || bytes[i] == 0x67) return false;  // segments, eip
  }
  // The handlers use the red zone.
  if (insn.memory() && insn.base == kSp && insn.disp < 0) return false;
  return insn.kind == Kind::JumpIndirect && insn.legacy &&
         (insn.memory() ? unrelocatable(insn) == nullptr : insn.rm != kSp);
}

uint32_t put_branch_to_exit(Code& code, std::span<const uint8_t> bytes, const Insn& insn) {
  if (insn.kind == Kind::CondJump) return code.long_jump_if(insn.opcode & 15);
  // loop and jrcxz:  loop taken; jmp over; taken: jmp exit; over:
  code.put(bytes.first(insn.length - 2u));
  code.put({insn.opcode, 2});
  const uint32_t over = code.short_jump(kJmpShort);
  const uint32_t exit = code.long_jump();
  code.bind(over);
  return exit;
}

Status put_inside_jump(Code& code, std::span<const uint8_t> bytes, const Insn& insn,
                       const Leaving& leaving) {
  CHECK(leaving.inside.size() <= kMaxInside);
  code.move_sp(-kRedZone);
  code.push(kR11);
  DJ_TRY_DO(put_target_in_r11(code, insn, leaving.target, kRedZone + 8));
  save_flags(code);
  std::vector<uint32_t> hits;
  for (const FunctionRange& range : leaving.inside) {
    DJ_TRY_DO(put_compare(code, range.begin));
    const uint32_t below = code.short_jump(kJb);
    DJ_TRY_DO(put_compare(code, range.end));
    hits.push_back(code.short_jump(kJb));
    code.bind(below);
  }
  close_frame(code, Form::Middle);
  const uint32_t outside = code.short_jump(kJmpShort);
  for (const uint32_t hit : hits) code.bind(hit);
  close_frame(code, Form::Middle);
  DJ_TRY_DO(relocate_to(code, bytes, insn));
  code.bind(outside);
  return ok_status();
}

}  // namespace dj::arch
