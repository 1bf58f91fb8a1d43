// Zydis's minimal decoder to Insn; this file is the only one that knows Zydis.
#include "arch/x86_64/decode.h"

#include <Zydis/Zydis.h>

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
    case 0xcd:
    case 0xcf:
      return Kind::Odd;
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

void fill_operand(const ZydisDecodedInstruction& z, Insn& insn) {
  const auto& modrm = z.raw.modrm;
  const auto& rex = z.raw.rex;  // all zero when there is none; only used for legacy encodings
  const bool legacy = insn.legacy;
  insn.has_modrm = true;
  insn.mod = modrm.mod;
  insn.reg = modrm.reg | (legacy && rex.R ? 8 : 0);
  if (modrm.mod == 3) {
    insn.rm = modrm.rm | (legacy && rex.B ? 8 : 0);
    return;
  }
  if (modrm.rm == 4) {
    const auto& sib = z.raw.sib;
    const uint8_t index = sib.index | (legacy && rex.X ? 8 : 0);
    insn.scale = uint8_t(1u << sib.scale);
    if (index != 4) insn.index = index;
    if (sib.base != 5 || modrm.mod != 0) insn.base = sib.base | (legacy && rex.B ? 8 : 0);
  } else if (modrm.rm == 5 && modrm.mod == 0) {
    insn.rip_relative = true;
    insn.target = insn.end() + uint64_t(z.raw.disp.value);
  } else {
    insn.base = modrm.rm | (legacy && rex.B ? 8 : 0);
  }
}

// A branch, call or return, direct or not.
bool transfers(Kind kind) { return kind >= Kind::Jump && kind <= Kind::Return; }

}  // namespace

bool decode(std::span<const uint8_t> bytes, uint64_t address, Insn& insn) {
  ZydisDecodedInstruction z;
  if (!ZYAN_SUCCESS(
          ZydisDecoderDecodeInstruction(&decoder(), nullptr, bytes.data(), bytes.size(), &z)))
    return false;
  insn = Insn{};
  insn.address = address;
  insn.length = z.length;
  insn.kind = kind_of(z);
  insn.legacy = z.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
  insn.map = uint8_t(z.opcode_map);
  insn.opcode = z.opcode;
  insn.wide = insn.legacy && z.raw.rex.W;
  insn.short_address = z.address_width == 32;
  insn.prefixes = z.raw.prefix_count;
  insn.disp = int32_t(z.raw.disp.value);
  insn.disp_offset = z.raw.disp.offset;
  insn.disp_bytes = z.raw.disp.size / 8;
  insn.imm = z.raw.imm[0].value.s;
  insn.imm_offset = z.raw.imm[0].offset;
  insn.imm_bytes = z.raw.imm[0].size / 8;
  if (z.attributes & ZYDIS_ATTRIB_HAS_MODRM) fill_operand(z, insn);
  if (z.raw.imm[0].is_relative) insn.target = insn.end() + uint64_t(insn.imm);
  // 66 before a branch: Intel ignores it, AMD cuts the address to 16 bits. Nobody emits it without
  // REX.W, which wins.
  if (transfers(insn.kind) && (z.attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE) && !insn.wide)
    insn.kind = Kind::Odd;
  return true;
}

uint16_t registers_written(std::span<const uint8_t> bytes, const Insn& insn) {
  constexpr uint16_t kCallerSaved = 0x0fc7;  // rax rcx rdx rsi rdi r8-r11
  if (insn.calls()) return kCallerSaved;
  ZydisDecodedInstruction z;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder(), bytes.data(), bytes.size(), &z, operands)))
    return 0xffff;
  uint16_t written = 0;
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

std::string disassemble(std::span<const uint8_t> bytes, uint64_t address) {
  ZydisDisassembledInstruction text;
  if (!ZYAN_SUCCESS(ZydisDisassembleIntel(ZYDIS_MACHINE_MODE_LONG_64, address, bytes.data(),
                                          bytes.size(), &text)))
    return "(bad)";
  return text.text;
}

}  // namespace dj::arch
