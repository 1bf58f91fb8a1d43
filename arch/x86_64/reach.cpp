// SPDX-License-Identifier: Apache-2.0
// Decodes instruction after instruction.
#include "arch/x86_64/reach.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "arch/x86_64/decode.h"

namespace dj::arch {

namespace {

bool looks_like_data(const Insn& insn, std::span<const uint8_t> bytes) {
  const auto among = [&](uint8_t first, uint8_t last) {
    return insn.is(insn.opcode) && insn.opcode >= first && insn.opcode <= last;
  };
  return insn.kind == Kind::Odd || (bytes.size() > 1 && bytes[0] == 0 && bytes[1] == 0) ||
         among(0x6c, 0x6f) || among(0xe4, 0xe7) || among(0xec, 0xef) || among(0xfa, 0xfb);
}

}  // namespace

uint64_t reached_bytes(std::span<const uint8_t> code, uint64_t begin) {
  constexpr size_t kMost = 1 << 16;  // instructions
  uint64_t most = 0;
  std::vector<uint64_t> todo = {0};
  std::unordered_set<uint64_t> seen;
  while (!todo.empty()) {
    uint64_t at = todo.back();
    todo.pop_back();
    Insn insn;
    while (at < code.size() && seen.insert(at).second &&
           decode(code.subspan(at), begin + at, insn)) {
      most = std::max(most, at + insn.length);
      const bool is_computed = insn.kind == Kind::JumpIndirect && !insn.rip_relative;
      if (is_computed || seen.size() > kMost) return 0;
      if (insn.branches() && !insn.calls() && insn.target - begin < code.size())
        todo.push_back(insn.target - begin);
      if (insn.leaves()) break;
      at += insn.length;
    }
  }
  return most;
}

bool leads_to_an_end(std::span<const uint8_t> code, uint64_t address) {
  constexpr size_t kMost = 4096;
  code = code.first(std::min(code.size(), kMost));
  Insn insn;
  while (!code.empty() && decode(code, address, insn) && !looks_like_data(insn, code)) {
    if (insn.leaves()) return true;
    code = code.subspan(insn.length);
    address += insn.length;
  }
  return false;
}

}  // namespace dj::arch
