// SPDX-License-Identifier: Apache-2.0
// Insn holds what relocation and the safety checks need to know of one decoded instruction;
// decode() fills it.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace dj::arch {

// The bytes of endbr64, which marks a place where an indirect jump may arrive.
constexpr std::array<uint8_t, 4> kEndbr64 = {0xf3, 0x0f, 0x1e, 0xfa};

enum class Kind : uint8_t {
  Other,         // goes on with the next instruction
  Nop,           // goes on with the next too; may be padding
  Jump,          // jmp rel
  CondJump,      // jcc rel
  Loop,          // loop, loope, loopne, jrcxz: only short forms exist
  Call,          // call rel32
  JumpIndirect,  // jmp r/m64
  CallIndirect,  // call r/m64
  Return,        // ret, ret imm16
  Trap,          // int3, ud2, hlt: control does not come back
  Syscall,       // syscall; also int n, which may be a system call
  Odd,           // far transfers, iret, xbegin, sysenter: never moved
};

constexpr uint8_t kNoReg = 0xff;

// Head holds what an instruction's bytes before its displacement and immediate say
// (decode_cache.h).
struct Head {
  uint8_t length = 0;
  Kind kind = Kind::Other;
  bool relative = false;  // the immediate is a distance from the end, to `target`
  bool rip_relative = false;
  bool legacy = true;  // no VEX, EVEX, XOP: map, opcode and ModRM mean what the old manual says
  bool wide = false;   // REX.W
  bool short_address = false;  // 67 prefix
  uint8_t prefixes = 0;        // bytes before the opcode's first byte, REX included (legacy only)
  uint8_t map = 0;             // 0: one-byte opcodes, 1: 0f
  uint8_t opcode = 0;
  uint8_t disp_offset = 0, disp_bytes = 0, imm_offset = 0, imm_bytes = 0;
  bool imm_signed = false;
  bool has_modrm = false;
  uint8_t mod = 0;
  // Encoding numbers with REX applied; memory operands have base and index (kNoReg: none), mod 3
  // has rm.
  uint8_t reg = 0, rm = kNoReg, base = kNoReg, index = kNoReg, scale = 1;
  bool operator==(const Head&) const = default;
};

struct Insn : Head {
  int32_t disp = 0;
  uint64_t address = 0;
  uint64_t target = 0;  // where a direct branch goes; what a rip-relative operand names; else 0
  int64_t imm = 0;      // first immediate, sign-extended where the CPU does

  bool operator==(const Insn&) const = default;
  uint64_t end() const { return address + length; }
  bool memory() const { return has_modrm && mod != 3; }
  bool is(uint8_t op) const { return legacy && map == 0 && opcode == op; }
  // A direct branch or call whose `target` is code.
  bool branches() const {
    return kind == Kind::Jump || kind == Kind::CondJump || kind == Kind::Loop || kind == Kind::Call;
  }
  // Whether control never goes on with the next instruction.
  bool leaves() const {
    return kind == Kind::Jump || kind == Kind::JumpIndirect || kind == Kind::Return ||
           kind == Kind::Trap;
  }
  // Whether the instruction reads or writes the memory at `target`.
  bool accesses_near() const { return rip_relative && memory() && !is(0x8d) && kind != Kind::Nop; }
  bool calls() const { return kind == Kind::Call || kind == Kind::CallIndirect; }
};

// Decodes the instruction at the start of `bytes`, which stand at `address`, into `insn`. Returns
// false when there is none.
bool decode(std::span<const uint8_t> bytes, uint64_t address, Insn& insn);

// Returns the general registers that the instruction writes: bit n is set for encoding number n.
// For a call, adds the registers that a callee may change; for a system call, rax.
uint16_t registers_written(std::span<const uint8_t> bytes, const Insn& insn);

// reads_result() tells whether the instruction reads what a function that returns has left in the
// registers of its result: rax, rdx, xmm0, xmm1 and st0. `left` are the registers that no
// instruction has overwritten yet; the call removes those that this instruction writes. An
// instruction that clears a register by itself (xor eax, eax) does not read it.
struct ResultRegisters {
  bool rax = false, rdx = false, xmm0 = false, xmm1 = false, st0 = false;
  bool any() const { return rax || rdx || xmm0 || xmm1 || st0; }
};
bool reads_result(std::span<const uint8_t> bytes, ResultRegisters& left);

// Returns the instruction as text (Intel syntax), for dumps and messages.
std::string disassemble(std::span<const uint8_t> bytes, uint64_t address);

}  // namespace dj::arch
