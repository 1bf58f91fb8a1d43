// SPDX-License-Identifier: Apache-2.0
// One decoded instruction, as little of it as relocation and the safety checks want to know.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace dj::arch {

// Marks a place where an indirect jump may arrive.
constexpr std::array<uint8_t, 4> kEndbr64 = {0xf3, 0x0f, 0x1e, 0xfa};

enum class Kind : uint8_t {
  Other,         // goes on with the next instruction
  Nop,           // so does a nop; it may also be padding
  Jump,          // jmp rel
  CondJump,      // jcc rel
  Loop,          // loop, loope, loopne, jrcxz: only short forms exist
  Call,          // call rel32
  JumpIndirect,  // jmp r/m64
  CallIndirect,  // call r/m64
  Return,        // ret, ret imm16
  Trap,          // int3, ud2, hlt: control does not come back
  Syscall,       // and int n, which may be one
  Odd,           // far transfers, iret, xbegin, sysenter: never moved
};

constexpr uint8_t kNoReg = 0xff;

// What an instruction's bytes before its displacement and immediate say (decode_cache.h).
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
  uint64_t target = 0;  // direct branches: where to; rip-relative operands: which address; else 0
  int64_t imm = 0;      // first immediate, sign-extended where the CPU does

  bool operator==(const Insn&) const = default;
  uint64_t end() const { return address + length; }
  bool memory() const { return has_modrm && mod != 3; }
  bool is(uint8_t op) const { return legacy && map == 0 && opcode == op; }
  // A direct branch or call whose `target` is code.
  bool branches() const {
    return kind == Kind::Jump || kind == Kind::CondJump || kind == Kind::Loop || kind == Kind::Call;
  }
  // The next instruction is not reached from here.
  bool leaves() const {
    return kind == Kind::Jump || kind == Kind::JumpIndirect || kind == Kind::Return ||
           kind == Kind::Trap;
  }
  // Reads or writes what lies at `target`.
  bool accesses_near() const { return rip_relative && memory() && !is(0x8d) && kind != Kind::Nop; }
  bool calls() const { return kind == Kind::Call || kind == Kind::CallIndirect; }
};

// Decodes the instruction at the start of bytes; false when there is none.
bool decode(std::span<const uint8_t> bytes, uint64_t address, Insn& insn);

// Bit n: general register n (encoding number) is written. For a call also what a callee may change.
uint16_t registers_written(std::span<const uint8_t> bytes, const Insn& insn);

// Whether the instruction reads what a function that returns has left in its result's registers,
// rax, rdx, xmm0, xmm1 and st0: `left` are those that nothing has overwritten yet, and become fewer
// by what it writes. What clears a register by itself (xor eax, eax) does not read it.
struct ResultRegisters {
  bool rax = false, rdx = false, xmm0 = false, xmm1 = false, st0 = false;
  bool any() const { return rax || rdx || xmm0 || xmm1 || st0; }
};
bool reads_result(std::span<const uint8_t> bytes, ResultRegisters& left);

// The instruction as text (Intel syntax), for dumps and messages.
std::string disassemble(std::span<const uint8_t> bytes, uint64_t address);

}  // namespace dj::arch
