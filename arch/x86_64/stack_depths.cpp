// SPDX-License-Identifier: Apache-2.0
// Following the stack pointer forward through a function.
#include "arch/x86_64/stack_depths.h"

#include <utility>

#include "arch/x86_64/registers.h"
#include "arch/x86_64/stack_taken.h"

namespace dj::arch {
namespace {

constexpr int64_t kWord = 8;

bool moves(const Insn& insn, uint8_t from, uint8_t to) {
  if (!insn.wide || !insn.has_modrm || insn.mod != 3) return false;
  return (insn.is(0x89) && insn.reg == from && insn.rm == to) ||
         (insn.is(0x8b) && insn.reg == to && insn.rm == from);
}

}  // namespace

void StackDepths::step(const Insn& insn, State& state) {
  const auto below_frame = [&](int64_t bytes) {
    return state.frame == kUnknown ? kUnknown : state.frame + bytes;
  };
  if (moves(insn, kSp, kBp)) {
    state.frame = state.depth;
  } else if (insn.is(0xc9)) {  // leave
    state.depth = below_frame(-kWord);
  } else if (moves(insn, kBp, kSp)) {
    state.depth = below_frame(0);
  } else if (insn.is(0x8d) && insn.reg == kSp && insn.base == kBp && insn.index == kNoReg) {
    state.depth = below_frame(-int64_t{insn.disp});
  } else if (state.depth != kUnknown) {
    const std::optional<int64_t> taken = stack_taken(insn);
    state.depth = taken ? state.depth + *taken : kUnknown;
  }
}

StackDepths::StackDepths(const Function& function, const std::vector<TableJump>& jumps)
    : depths_(function.insns.size(), kUnseen) {
  std::vector<std::pair<size_t, State>> work = {{0, State{}}};
  const auto lead_to = [&](uint64_t target, const State& state) {
    const size_t to = function.inside(target) ? function.find(target) : Function::kNone;
    if (to != Function::kNone) work.emplace_back(to, state);
  };
  while (!work.empty()) {
    auto [at, state] = work.back();
    work.pop_back();
    while (at < depths_.size() && depths_[at] != kUnknown && depths_[at] != state.depth) {
      // Where two ways disagree, what comes behind is not known either.
      if (depths_[at] != kUnseen) state = {kUnknown, kUnknown};
      depths_[at] = state.depth;
      const Insn& insn = function.insns[at];
      step(insn, state);
      if (insn.branches() && insn.kind != Kind::Call) lead_to(insn.target, state);
      if (insn.kind == Kind::JumpIndirect) {
        for (const TableJump& jump : jumps) {
          if (jump.address != insn.address) continue;
          for (const uint64_t target : jump.targets) lead_to(target, state);
        }
      }
      if (insn.leaves()) break;
      at++;
    }
  }
}

}  // namespace dj::arch
