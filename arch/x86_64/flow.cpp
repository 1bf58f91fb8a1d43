// SPDX-License-Identifier: Apache-2.0
// Backward walk over a function's instructions.
#include "arch/x86_64/flow.h"

#include <algorithm>

#include "arch/x86_64/registers.h"

namespace dj::arch {
namespace {
constexpr uint32_t kNotComputed = ~0u;
}

bool jumps_to_own_value(const Insn& insn) {
  if (insn.kind != Kind::JumpIndirect) return false;
  return !insn.memory() || insn.base == kSp || insn.base == kBp;
}

Flow::Flow(const Module& module, const Function& function) : module_(module), function_(function) {
  const auto& insns = function.insns;
  std::vector<std::pair<uint32_t, uint32_t>> edges;  // (to, from)
  edges.reserve(insns.size() + insns.size() / 4);
  for (uint32_t i = 0; i < insns.size(); i++) {
    const Insn& insn = insns[i];
    if (!insn.leaves() && i + 1 < insns.size()) edges.emplace_back(i + 1, i);
    if (insn.branches() && insn.kind != Kind::Call && function.inside(insn.target)) {
      const size_t to = function.find(insn.target);
      if (to != Function::kNone) edges.emplace_back(uint32_t(to), i);
    }
    if (jumps_to_own_value(insn)) indirect_.push_back(i);
  }
  std::sort(edges.begin(), edges.end());
  first_.assign(insns.size() + 1, 0);
  for (const auto& [to, from] : edges) {
    first_[to + 1]++;
    edges_.push_back(from);
  }
  for (size_t i = 1; i < first_.size(); i++) first_[i] += first_[i - 1];
  written_.assign(insns.size(), kNotComputed);
}

size_t Flow::only_predecessor(uint32_t at) const {
  return first_[at + 1] - first_[at] == 1 ? edges_[first_[at]] : Function::kNone;
}

uint16_t Flow::written(uint32_t at) {
  if (written_[at] == kNotComputed) {
    const Insn& insn = function_.insns[at];
    written_[at] = registers_written(module_.bytes(insn.address).first(insn.length), insn);
  }
  return uint16_t(written_[at]);
}

Flow::Definitions Flow::definitions(uint32_t at, uint8_t reg) {
  return last_before(at, [&](uint32_t i) { return (written(i) >> reg & 1) != 0; });
}

Flow::Definitions Flow::stores(uint32_t at) {
  const Insn& load = function_.insns[at];
  return last_before(at, [&](uint32_t i) {
    const Insn& insn = function_.insns[i];
    const bool stores = (insn.is(0x89) || insn.is(0xc7)) && insn.wide && insn.memory();
    return stores && insn.base == load.base && insn.index == load.index && insn.disp == load.disp;
  });
}

template <typename Writes>
Flow::Definitions Flow::last_before(uint32_t at, const Writes& writes) {
  Definitions result;
  std::vector<bool> seen(function_.insns.size());
  std::vector<uint32_t> work{at};  // instructions before which the value is asked for
  const auto arrive = [&](uint32_t from) {
    if (seen[from]) return;
    seen[from] = true;
    if (writes(from)) {
      result.writers.push_back(from);
    } else {
      work.push_back(from);
    }
  };
  while (!work.empty()) {
    const uint32_t i = work.back();
    work.pop_back();
    if (i == 0) result.from_caller = true;
    for (uint32_t e = first_[i]; e < first_[i + 1]; e++) arrive(edges_[e]);
    if (i == 0 || first_[i] != first_[i + 1]) continue;
    // Nothing visible leads here: a landing pad, a case of a jump table, or dead code.
    const auto& pads = module_.text().landing_pads;
    if (std::binary_search(pads.begin(), pads.end(), function_.insns[i].address))
      result.unknown = true;
    for (const uint32_t jump : indirect_) arrive(jump);
  }
  return result;
}

}  // namespace dj::arch
