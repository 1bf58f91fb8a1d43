// SPDX-License-Identifier: Apache-2.0
// Reads back from the exit to the instruction that has set the stack pointer.
#include "arch/x86_64/exit_frames.h"

#include "arch/x86_64/registers.h"
#include "arch/x86_64/thunks.h"

namespace dj::arch {
namespace {

// `mov` of a whole register to or from another one or memory.
bool is_load(const Insn& insn) { return insn.is(0x8b) && insn.wide; }
bool is_store(const Insn& insn) { return insn.is(0x89) && insn.wide; }

// What an instruction makes of the stack pointer: it stays on its stack, becomes the function's own
// from its frame, or comes from elsewhere.
enum class Stack : uint8_t { Same, Own, Foreign };
Stack stack_behind(const Insn& insn) {
  if (insn.is(0xc9) || (insn.is(0x8d) && insn.reg == kSp)) return Stack::Own;  // leave, lea
  const bool loads = is_load(insn) && insn.reg == kSp;
  if (loads && insn.memory())
    return insn.base == kBp || insn.base == kSp ? Stack::Own : Stack::Foreign;
  const bool stores = is_store(insn) && !insn.memory() && insn.rm == kSp;
  if (!loads && !stores) return Stack::Same;
  return (loads ? insn.rm : insn.reg) == kBp ? Stack::Own : Stack::Foreign;
}

// Does the instruction keep where the stack is, in a register that is no frame pointer or in
// memory?
bool keeps_stack(const std::vector<Insn>& insns, size_t at) {
  constexpr size_t kNear = 3;
  const Insn& insn = insns[at];
  if (is_store(insn) && insn.reg == kSp) return insn.memory() || insn.rm != kBp;
  if (is_load(insn) && !insn.memory() && insn.rm == kSp) return insn.reg != kBp;
  if (!insn.is(0x8d) || insn.base != kSp || insn.reg == kSp) return false;
  // Addresses of locals are passed on; this one is stored.
  for (size_t i = at + 1; i < insns.size() && i <= at + kNear; i++) {
    const Insn& next = insns[i];
    if (is_store(next) && next.reg == insn.reg && next.memory() && next.base != kSp) return true;
  }
  return false;
}

}  // namespace

Leads leads(const Function& code, size_t exit) {
  constexpr size_t kFar = 24;
  for (size_t i = exit; i > 0 && exit - i < kFar; i--) {
    const Insn& insn = code.insns[i - 1];
    const Stack stack = stack_behind(insn);
    if (insn.leaves() || insn.calls() || stack == Stack::Own) return Leads::Back;
    if (stack == Stack::Same) continue;
    for (size_t at = 0; at < code.insns.size(); at++) {
      if (keeps_stack(code.insns, at)) return Leads::Across;
    }
    return Leads::Away;
  }
  return Leads::Back;
}

bool is_popped(const Function& code, size_t jump) {
  const Insn& insn = code.insns[jump];
  return jump > 0 && !insn.memory() && popped(code.insns[jump - 1]) == insn.rm;
}

}  // namespace dj::arch
