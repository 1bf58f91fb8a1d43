// SPDX-License-Identifier: Apache-2.0
// Moving one instruction to another address (checker.h, check 6).
#include "arch/x86_64/relocate.h"

#include <fmt/format.h>

#include "arch/x86_64/detour.h"
#include "arch/x86_64/registers.h"

namespace dj::arch {
namespace {

// A copy whose disp32 leads to the same address from here. The displacement is not always last
// (an immediate may follow), but it always counts from the end of the instruction.
Status put_rip_relative(Code& code, std::span<const uint8_t> bytes, const Insn& insn) {
  DJ_TRY(const int32_t disp, displacement(code.here() + insn.length, insn.target));
  uint8_t copy[16];
  std::memcpy(copy, bytes.data(), insn.length);
  std::memcpy(copy + insn.disp_offset, &disp, 4);
  code.put(std::span<const uint8_t>(copy, insn.length));
  return ok_status();
}

// loop and jrcxz have no long form:  loop taken; jmp over; taken: jmp target; over:
Status put_loop(Code& code, std::span<const uint8_t> bytes, const Insn& insn) {
  code.put(bytes.first(insn.length - 2));  // prefixes: 67 chooses ecx
  code.put({insn.opcode, 2});
  code.put({0xeb, 5});  // jmp over
  return code.jump(insn.target);
}

constexpr uint8_t kReg = 0x38;  // of ModRM: the opcode's second half in ff /2, /4 and /6

// The target hangs on what lies at or below the stack pointer, where the return address will be. So
// it is pushed first, and gone to by a `ret` from below the red zone: it makes no difference there.
void put_call_by_return(Code& code, std::span<const uint8_t> bytes, const Insn& insn) {
  constexpr uint8_t kPush = 6 << 3;
  uint8_t copy[16];
  std::memcpy(copy, bytes.data(), insn.length);
  uint8_t& modrm = copy[insn.prefixes + 1];
  modrm = uint8_t((modrm & ~kReg) | kPush);
  code.put(std::span<const uint8_t>(copy, insn.length));
  code.return_to_pushed(insn.end());
}

// Does the target of this call r/m hang on the place of the return address?
bool reads_below_sp(const Insn& insn) {
  if (!insn.memory()) return insn.rm == kSp;
  return insn.base == kSp && (insn.index != kNoReg || insn.disp < 0);
}

// call r/m as push of the original next address and jmp r/m. The operand is the same but for rsp's
// move by 8, and /2 becomes /4.
Status put_call_indirect(Code& code, std::span<const uint8_t> bytes, const Insn& insn) {
  if (reads_below_sp(insn)) {
    put_call_by_return(code, bytes, insn);
    return ok_status();
  }
  code.push_address(insn.end());
  const uint8_t modrm_at = uint8_t(insn.prefixes + 1);
  uint8_t copy[24];
  std::memcpy(copy, bytes.data(), insn.length);
  copy[modrm_at] = uint8_t((copy[modrm_at] & ~kReg) | 0x20);
  size_t length = insn.length;
  if (insn.rip_relative) {
    DJ_TRY(const int32_t disp, displacement(code.here() + length, insn.target));
    std::memcpy(copy + insn.disp_offset, &disp, 4);
  } else if (insn.memory() && insn.base == kSp) {
    const int32_t disp = insn.disp + 8;
    copy[modrm_at] = uint8_t((copy[modrm_at] & 0x3f) | 0x80);  // mod 2: disp32
    std::memcpy(copy + modrm_at + 2, &disp, 4);                // behind ModRM and SIB
    length = modrm_at + 6u;
  }
  code.put(std::span<const uint8_t>(copy, length));
  return ok_status();
}

}  // namespace

const char* unrelocatable(const Insn& insn) {
  if (insn.kind == Kind::Odd) return "a far transfer or a transaction's begin";
  if (insn.rip_relative && insn.short_address) return "an eip-relative operand";
  return nullptr;
}

Status relocate_to(Code& code, std::span<const uint8_t> bytes, const Insn& insn) {
  if (const char* why = unrelocatable(insn))
    return Error{
        fmt::format("the instruction at {:#x} cannot run elsewhere: {}", insn.address, why)};
  switch (insn.kind) {
    case Kind::Jump:
      return code.jump(insn.target);
    case Kind::CondJump:
      return code.branch({0x0f, uint8_t(0x80 | (insn.opcode & 15))}, insn.target);
    case Kind::Loop:
      return put_loop(code, bytes, insn);
    case Kind::Call:
      code.push_address(insn.end());
      return code.jump(insn.target);
    case Kind::CallIndirect:
      return put_call_indirect(code, bytes, insn);
    default:
      break;
  }
  if (insn.rip_relative) return put_rip_relative(code, bytes, insn);
  code.put(bytes.first(insn.length));
  return ok_status();
}

Result<std::vector<uint8_t>> relocate(std::span<const uint8_t> bytes, uint64_t from, uint64_t to) {
  Insn insn;
  if (!decode(bytes, from, insn)) return Error{fmt::format("no instruction (at {:#x})", from)};
  Code code(to);
  DJ_TRY_DO(relocate_to(code, bytes, insn));
  return code.take();
}

Result<std::vector<uint8_t>> encode_jump(uint64_t from, uint64_t to) {
  Code code(from);
  DJ_TRY_DO(code.jump(to));
  return code.take();
}

}  // namespace dj::arch
