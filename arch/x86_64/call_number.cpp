// SPDX-License-Identifier: Apache-2.0
// Follows the constants that reach eax: compilers keep a call's number in another register, too,
// where they call in a loop.
#include "arch/x86_64/call_number.h"

#include <algorithm>

#include "arch/x86_64/module.h"
#include "arch/x86_64/registers.h"

namespace dj::arch {
namespace {

constexpr int kMostMoves = 4;

class Constants {
 public:
  Constants(Flow& flow, const Module& module) : flow_(flow), module_(module) {}

  // What the register holds in front of instruction `at`.
  std::optional<uint32_t> before(uint32_t at, uint8_t reg, int moves = 0) {
    const Flow::Definitions from = flow_.definitions(at, reg);
    if (from.from_caller || from.unknown || from.writers.empty()) return std::nullopt;
    std::optional<uint32_t> all;
    for (const uint32_t writer : from.writers) {
      const std::optional<uint32_t> value = written(writer, reg, moves);
      if (!value || (all && *all != *value)) return std::nullopt;
      all = value;
    }
    return all;
  }

 private:
  // What instruction `at`, which writes the register, leaves there.
  std::optional<uint32_t> written(uint32_t at, uint8_t reg, int moves) {
    const Insn& insn = flow_.function().insns[at];
    if (flow_.written(at) != 1 << reg || has_half_operands(insn)) return std::nullopt;
    const bool between_registers = insn.has_modrm && insn.mod == 3;
    if ((insn.is(0x31) || insn.is(0x33)) && between_registers && insn.rm == insn.reg) return 0;
    const bool is_constant = insn.is(insn.opcode) && (insn.opcode & 0xf8) == 0xb8;  // mov $n,%reg
    if (is_constant || (insn.is(0xc7) && between_registers)) return uint32_t(insn.imm);
    if (moves == kMostMoves) return std::nullopt;
    if (insn.is(0xb0) && reg == kRax) {  // mov $n,%al: musl's assembler
      const std::optional<uint32_t> rest = before(at, reg, moves + 1);
      return rest ? std::optional((*rest & ~0xffu) | uint8_t(insn.imm)) : std::nullopt;
    }
    if (insn.is(0x89) && between_registers) return before(at, insn.reg, moves + 1);
    if (insn.is(0x8b) && between_registers) return before(at, insn.rm, moves + 1);
    return std::nullopt;
  }

  // The upper half of a register of 32 bits stays.
  bool has_half_operands(const Insn& insn) const {
    constexpr uint8_t kOperandSize = 0x66;
    const auto prefixes = module_.bytes(insn.address).first(insn.prefixes);
    return std::ranges::find(prefixes, kOperandSize) != prefixes.end();
  }

  Flow& flow_;
  const Module& module_;
};

}  // namespace

int64_t call_number(Flow& flow, uint32_t at) {
  const std::optional<uint32_t> number = Constants(flow, flow.module()).before(at, kRax);
  return number ? int64_t{*number} : kUnknownNumber;
}

std::optional<SystemCall> system_call_in(std::span<const uint8_t> code, uint64_t begin,
                                         uint64_t place) {
  const FunctionRange range = {begin, begin + code.size()};
  ModuleText text;
  text.text = {{begin, code}};
  text.functions = {range};
  const Module module(std::move(text));
  const Function function = module.decode(range);
  const size_t at = function.find(place);
  if (at == Function::kNone) return std::nullopt;
  Flow flow(module, function);
  const size_t next = at + 1;
  const bool is_joined =
      next < function.insns.size() && flow.only_predecessor(uint32_t(next)) != at;
  return SystemCall{call_number(flow, uint32_t(at)), is_joined};
}

}  // namespace dj::arch
