// SPDX-License-Identifier: Apache-2.0
// Zydis's minimal decoder to Head and Insn; this file is the only one that knows Zydis.
#include "arch/x86_64/decode.h"

#include <Zydis/Zydis.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "arch/x86_64/decode_cache.h"

namespace dj::arch {
namespace {

const ZydisDecoder& decoder() {
  static const ZydisDecoder instance = [] {
    ZydisDecoder d;
    ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return d;
  }();
  return instance;
}

Kind one_byte_kind(const ZydisDecodedInstruction& z) {
  const uint8_t op = z.opcode;
  const uint8_t reg = z.raw.modrm.reg;
  if (op >= 0x70 && op <= 0x7f) return Kind::CondJump;
  if (op >= 0xe0 && op <= 0xe3) return Kind::Loop;
  switch (op) {
    case 0xe8:
      return Kind::Call;
    case 0xe9:
    case 0xeb:
      return Kind::Jump;
    case 0xc2:
    case 0xc3:
      return Kind::Return;
    case 0xcc:
    case 0xf4:
      return Kind::Trap;
    case 0xca:
    case 0xcb:
    case 0xcf:
      return Kind::Odd;
    case 0xcd:
      return Kind::Syscall;
    case 0x90:
      return z.mnemonic == ZYDIS_MNEMONIC_NOP ? Kind::Nop : Kind::Other;
    case 0xc6:
    case 0xc7:  // xabort, xbegin
      return z.raw.modrm.mod == 3 && reg == 7 ? Kind::Odd : Kind::Other;
    case 0xff:
      if (reg == 2) return Kind::CallIndirect;
      if (reg == 4) return Kind::JumpIndirect;
      return reg == 3 || reg == 5 ? Kind::Odd : Kind::Other;
    default:
      return Kind::Other;
  }
}

Kind two_byte_kind(const ZydisDecodedInstruction& z) {
  const uint8_t op = z.opcode;
  if (op >= 0x80 && op <= 0x8f) return Kind::CondJump;
  switch (op) {
    case 0x05:
      return Kind::Syscall;
    case 0x07:
    case 0x34:
    case 0x35:
      return Kind::Odd;
    case 0x0b:
    case 0xb9:
    case 0xff:
      return Kind::Trap;
    default:
      return z.mnemonic == ZYDIS_MNEMONIC_NOP ? Kind::Nop : Kind::Other;
  }
}

Kind kind_of(const ZydisDecodedInstruction& z) {
  if (z.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY) return Kind::Other;
  if (z.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT) return one_byte_kind(z);
  if (z.opcode_map == ZYDIS_OPCODE_MAP_0F) return two_byte_kind(z);
  return Kind::Other;
}

// Moves from and to control and debug registers have no operand in memory, whatever mod says.
bool has_registers_alone(const ZydisDecodedInstruction& z) {
  return z.opcode_map == ZYDIS_OPCODE_MAP_0F && z.opcode >= 0x20 && z.opcode <= 0x23 &&
         z.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
}

void fill_operand(const ZydisDecodedInstruction& z, Head& head) {
  const auto& modrm = z.raw.modrm;
  const auto& rex = z.raw.rex;  // all zero when there is none; only used for legacy encodings
  const bool legacy = head.legacy;
  head.has_modrm = true;
  head.mod = has_registers_alone(z) ? 3 : modrm.mod;
  head.reg = modrm.reg | (legacy && rex.R ? 8 : 0);
  if (head.mod == 3) {
    head.rm = modrm.rm | (legacy && rex.B ? 8 : 0);
    return;
  }
  if (modrm.rm == 4) {
    const auto& sib = z.raw.sib;
    const uint8_t index = sib.index | (legacy && rex.X ? 8 : 0);
    head.scale = uint8_t(1u << sib.scale);
    if (index != 4) head.index = index;
    if (sib.base != 5 || modrm.mod != 0) head.base = sib.base | (legacy && rex.B ? 8 : 0);
  } else if (modrm.rm == 5 && modrm.mod == 0) {
    head.rip_relative = true;
  } else {
    head.base = modrm.rm | (legacy && rex.B ? 8 : 0);
  }
}

// A branch, call or return, direct or not.
bool transfers(Kind kind) { return kind >= Kind::Jump && kind <= Kind::Return; }

// How long the head is; 0 where what follows it decides more than values.
size_t bytes_of_head(const ZydisDecodedInstruction& z) {
  if (z.opcode_map == ZYDIS_OPCODE_MAP_0F0F) return 0;  // 3DNow!: the opcode comes last
  if (z.raw.disp.size != 0) return z.raw.disp.offset;
  return z.raw.imm[0].size != 0 ? z.raw.imm[0].offset : z.length;
}

Head head_of(const ZydisDecodedInstruction& z) {
  Head head;
  head.length = z.length;
  head.kind = kind_of(z);
  head.relative = z.raw.imm[0].is_relative;
  head.legacy = z.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
  head.map = uint8_t(z.opcode_map);
  head.opcode = z.opcode;
  head.wide = head.legacy && z.raw.rex.W;
  head.short_address = z.address_width == 32;
  head.prefixes = z.raw.prefix_count;
  head.disp_offset = z.raw.disp.offset;
  head.disp_bytes = z.raw.disp.size / 8;
  head.imm_offset = z.raw.imm[0].offset;
  head.imm_bytes = z.raw.imm[0].size / 8;
  head.imm_signed = z.raw.imm[0].is_signed;
  if (z.attributes & ZYDIS_ATTRIB_HAS_MODRM) fill_operand(z, head);
  // 66 before a branch: Intel ignores it, AMD cuts the address to 16 bits. Nobody emits it without
  // REX.W, which wins.
  if (transfers(head.kind) && (z.attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE) && !head.wide)
    head.kind = Kind::Odd;
  return head;
}

// The value of a displacement or an immediate of 1, 2, 4 or 8 bytes; 0 of none.
int64_t value_at(const uint8_t* at, uint8_t bytes, bool is_signed) {
  uint64_t value = 0;
  std::memcpy(&value, at, bytes);
  const int unused = 64 - 8 * bytes;
  if (bytes == 0 || !is_signed) return int64_t(value);
  return int64_t(value << unused) >> unused;
}

}  // namespace

bool decode(std::span<const uint8_t> bytes, uint64_t address, Insn& insn) {
  // So much is read of what is known already; zeros behind fewer bytes change nothing that they are
  // enough for.
  std::array<uint8_t, 16> padded;
  const size_t given = bytes.size();
  if (given < padded.size()) {
    padded.fill(0);
    std::copy(bytes.begin(), bytes.end(), padded.begin());
    bytes = padded;
  }
  const size_t size = head_size(bytes);
  Head& head = insn;
  if (size == 0 || !known_head(bytes.data(), size, head)) {
    ZydisDecodedInstruction z;
    if (!ZYAN_SUCCESS(
            ZydisDecoderDecodeInstruction(&decoder(), nullptr, bytes.data(), bytes.size(), &z)))
      return false;
    head = head_of(z);
    if (size == bytes_of_head(z)) keep_head(bytes.data(), size, head);
  }
  if (head.length > given) return false;
  insn.address = address;
  insn.disp = int32_t(value_at(bytes.data() + head.disp_offset, head.disp_bytes, true));
  insn.imm = value_at(bytes.data() + head.imm_offset, head.imm_bytes, head.imm_signed);
  insn.target = 0;
  if (head.rip_relative) insn.target = insn.end() + uint64_t(int64_t(insn.disp));
  if (head.relative) insn.target = insn.end() + uint64_t(insn.imm);
  return true;
}

uint16_t registers_written(std::span<const uint8_t> bytes, const Insn& insn) {
  constexpr uint16_t kCallerSaved = 0x0fc7;  // rax rcx rdx rsi rdi r8-r11
  if (insn.calls() || insn.is(0xcd)) return kCallerSaved;
  ZydisDecodedInstruction z;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder(), bytes.data(), bytes.size(), &z, operands)))
    return 0xffff;
  uint16_t written = insn.kind == Kind::Syscall ? 1 : 0;  // the kernel's answer is in rax
  for (uint8_t i = 0; i < z.operand_count; i++) {
    const ZydisDecodedOperand& op = operands[i];
    if (op.type != ZYDIS_OPERAND_TYPE_REGISTER || !(op.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
      continue;
    const ZydisRegister full =
        ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, op.reg.value);
    if (ZydisRegisterGetClass(full) == ZYDIS_REGCLASS_GPR64)
      written |= uint16_t(1u << ZydisRegisterGetId(full));
  }
  return written;
}

namespace {

// The register's part of `left`; null: it is none of these.
bool* part_of(ZydisRegister reg, ResultRegisters& left) {
  if (reg == ZYDIS_REGISTER_ST0) return &left.st0;
  const ZydisRegister full = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
  switch (full) {
    case ZYDIS_REGISTER_RAX:
      return &left.rax;
    case ZYDIS_REGISTER_RDX:
      return &left.rdx;
    case ZYDIS_REGISTER_ZMM0:
      return &left.xmm0;
    case ZYDIS_REGISTER_ZMM1:
      return &left.xmm1;
    default:
      return nullptr;
  }
}

bool clears(const ZydisDecodedInstruction& z, const ZydisDecodedOperand* operands) {
  switch (z.mnemonic) {
    case ZYDIS_MNEMONIC_XOR:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_PXOR:
    case ZYDIS_MNEMONIC_XORPS:
    case ZYDIS_MNEMONIC_XORPD:
      return operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
             operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
             operands[0].reg.value == operands[1].reg.value;
    default:
      return false;
  }
}

}  // namespace

bool reads_result(std::span<const uint8_t> bytes, ResultRegisters& left) {
  ZydisDecodedInstruction z;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder(), bytes.data(), bytes.size(), &z, operands)))
    return false;
  const bool only_clears = clears(z, operands);
  ResultRegisters after = left;
  for (uint8_t i = 0; i < z.operand_count; i++) {
    const ZydisDecodedOperand& op = operands[i];
    if (op.type == ZYDIS_OPERAND_TYPE_MEMORY) {
      const bool* base = part_of(op.mem.base, left);
      const bool* index = part_of(op.mem.index, left);
      if ((base != nullptr && *base) || (index != nullptr && *index)) return true;
    }
    bool* part = op.type == ZYDIS_OPERAND_TYPE_REGISTER ? part_of(op.reg.value, left) : nullptr;
    if (part == nullptr) continue;
    const bool reads = (op.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
    if (reads && *part && !only_clears) return true;
    if (!reads || only_clears) *part_of(op.reg.value, after) = false;
  }
  left = after;
  return false;
}

std::string disassemble(std::span<const uint8_t> bytes, uint64_t address) {
  ZydisDisassembledInstruction text;
  if (!ZYAN_SUCCESS(ZydisDisassembleIntel(ZYDIS_MACHINE_MODE_LONG_64, address, bytes.data(),
                                          bytes.size(), &text)))
    return "(bad)";
  return text.text;
}

}  // namespace dj::arch
