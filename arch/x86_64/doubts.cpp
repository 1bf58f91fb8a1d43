// SPDX-License-Identifier: Apache-2.0
// Which instructions inside a jump a table's jump could lead to, if the table was read wrong.
#include "arch/x86_64/doubts.h"

#include <algorithm>

namespace dj::arch {
namespace {

// jcc, setcc, cmovcc.
bool reads_flags(const Insn& insn) {
  constexpr uint8_t kCmov = 0x40, kSet = 0x90, kRow = 0xf0;
  if (insn.kind == Kind::CondJump) return true;
  const uint8_t row = insn.opcode & kRow;
  return insn.legacy && insn.map == 1 && (row == kCmov || row == kSet);
}

}  // namespace

bool Doubts::may_lead_to(size_t insn) const {
  const Insn& to = function_.insns[insn];
  const bool aligns = to.kind == Kind::Nop && insn > 0 && function_.insns[insn - 1].leaves();
  if (aligns || to.kind == Kind::Syscall || reads_flags(to)) return false;
  return std::any_of(jumps_.begin(), jumps_.end(), [&](const TableJump& jump) {
    const size_t from = function_.find(jump.address);
    return from == Function::kNone || !depths_.differ(from, insn);
  });
}

void Doubts::mark(Region& region) const {
  constexpr uint32_t kBits = 32;
  if (region.verdict != Verdict::Ok || jumps_.empty()) return;
  for (uint32_t i = region.first; i < std::min<uint32_t>(region.stretch, kBits); i++) {
    if ((region.boundaries >> i & 1) == 0) continue;
    const size_t insn = function_.find(region.address + i);
    if (insn != Function::kNone && may_lead_to(insn)) region.doubts |= 1u << i;
  }
}

}  // namespace dj::arch
