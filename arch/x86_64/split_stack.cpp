// SPDX-License-Identifier: Apache-2.0
// Recognises the call by its arguments, which no other function takes there.
#include "arch/x86_64/split_stack.h"

namespace dj::arch {
namespace {

constexpr uint8_t kFrameSize = 10, kArgumentSize = 11;  // r10, r11

// mov $constant,%reg or xor %reg,%reg
bool sets(const Insn& insn, uint8_t reg) {
  const bool constant = insn.legacy && insn.map == 0 && insn.opcode == 0xb8 + (reg & 7) &&
                        insn.prefixes == 1 && insn.imm_bytes != 0;
  const bool zero = insn.is(0x31) && insn.mod == 3 && insn.reg == reg && insn.rm == reg;
  return constant || zero;
}

// With what it runs on into: __morestack_non_split, which gold makes calls of other code ask, does.
FunctionRange with_next(const Module& module, FunctionRange range) {
  const Function function = module.decode(range);
  const FunctionRange* next = module.function_at(range.end);
  const bool runs_on = function.whole && !function.insns.back().leaves();
  return {range.begin, runs_on && next != nullptr ? next->end : range.end};
}

}  // namespace

// mov $frame,%r10d; mov $arguments,%r11d; call __morestack; ret
FunctionRange more_stack(const Module& module, const Function& function) {
  const auto& insns = function.insns;
  for (size_t i = 2; i + 1 < insns.size(); i++) {
    if (insns[i].kind != Kind::Call || insns[i + 1].kind != Kind::Return) continue;
    if (!sets(insns[i - 2], kFrameSize) || !sets(insns[i - 1], kArgumentSize)) continue;
    const FunctionRange* callee = module.function_at(insns[i].target);
    if (callee != nullptr) return with_next(module, *callee);
  }
  return {0, 0};
}

}  // namespace dj::arch
