// SPDX-License-Identifier: Apache-2.0
// Goes straight from the entry to the first return. Branches lead where they always led, into the
// text, so loops and the other ways of the function stay there.
#include "arch/x86_64/whole_function.h"

#include <algorithm>

#include "arch/x86_64/decode.h"
#include "arch/x86_64/relocate.h"

namespace dj::arch {
namespace {

// Does control go on behind it, or to a place in the text, and can it run elsewhere?
bool goes_along(const Insn& insn) {
  const bool goes_on =
      insn.kind == Kind::Nop || insn.kind == Kind::CondJump || insn.kind == Kind::Other;
  return goes_on && unrelocatable(insn) == nullptr;
}

}  // namespace

uint32_t whole_function(std::span<const uint8_t> bytes, uint64_t address, uint32_t displaced) {
  const size_t most = std::min<size_t>(bytes.size(), kWholeMost);
  for (size_t at = 0; at < most;) {
    Insn insn;
    if (!decode(bytes.subspan(at), address + at, insn)) return 0;
    at += insn.length;
    if (insn.kind == Kind::Return) return at > displaced && at <= most ? uint32_t(at) : 0;
    const bool stays = at <= displaced && !insn.leaves() && !insn.calls();
    if (!stays && !goes_along(insn)) return 0;
  }
  return 0;
}

}  // namespace dj::arch
