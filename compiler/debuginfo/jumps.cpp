// SPDX-License-Identifier: Apache-2.0
// Checks that a DWARF expression's stack is the same whichever way a place of it is come to: the
// stack exists only while the expression is translated.
#include "compiler/debuginfo/jumps.h"

#include <algorithm>

namespace dj {

namespace {

using Op = LocStep::Op;

// The operation that the jump leads to, or ops.size(): the end. None: there is no such one.
std::optional<size_t> target_of(std::span<const Dwarf_Op> ops, size_t jump) {
  constexpr int64_t kBytes = 3;  // of a jump itself
  const int64_t offset = int64_t(ops[jump].offset) + kBytes + int16_t(ops[jump].number);
  if (offset > int64_t(ops.back().offset)) {
    return ops.size();
  }
  for (size_t i = 0; i < ops.size(); i++) {
    if (int64_t(ops[i].offset) == offset) {
      return i;
    }
  }
  return std::nullopt;
}

// gcc (12, for one) describes the number of bits that are set by a loop that ends where there are
// bits left, and has no end where there are none. Is this its jump out of the loop?
bool is_wrong_way_round(std::span<const Dwarf_Op> ops, size_t jump) {
  constexpr uint8_t kLoop[] = {DW_OP_dup,  DW_OP_bra, DW_OP_dup,  DW_OP_rot,
                               DW_OP_lit1, DW_OP_and, DW_OP_plus, DW_OP_swap,
                               DW_OP_lit1, DW_OP_shr, DW_OP_skip, DW_OP_drop};
  return jump >= 1 && ops.size() - (jump - 1) >= std::size(kLoop) &&
         std::equal(std::begin(kLoop), std::end(kLoop), &ops[jump - 1],
                    [](uint8_t atom, const Dwarf_Op& op) { return op.atom == atom; });
}

bool is_piece(const Dwarf_Op& op) { return op.atom == DW_OP_piece || op.atom == DW_OP_bit_piece; }

}  // namespace

Status Jumps::find(std::span<const Dwarf_Op> ops) {
  for (size_t i = 0; i < ops.size(); i++) {
    if (!is_jump(ops[i])) {
      continue;
    }
    const std::optional<size_t> target = target_of(ops, i);
    // Two values: std::minmax() would give references, one of them to what value_or() gives.
    const size_t low = std::min(i, target.value_or(i)), high = std::max(i, target.value_or(i));
    if (!target || std::any_of(&ops[0] + low, &ops[0] + high, is_piece)) {
      return Error{"its DWARF expression jumps out of itself"};
    }
    next_label_ += targets_.try_emplace(*target, Target{next_label_, {}, false}).second;
  }
  return ok_status();
}

Status Jumps::arrive(Target& target, const TypedStack& stack) {
  if (target.words && *target.words != stack.words()) {
    return Error{"what is on its DWARF expression's stack depends on the way to a jump's target",
                 Fail::Unsupported};
  }
  target.words = stack.words();
  return ok_status();
}

Status Jumps::arrive_at(size_t i, TypedStack& stack) {
  const auto found = targets_.find(i);
  if (found == targets_.end()) {
    return ok_status();
  }
  Target& target = found->second;
  if (reachable_) {
    DJ_TRY_DO(arrive(target, stack));
  }
  if (!target.words) {
    return Error{"its DWARF expression has a part that only later ones jump to", Fail::Unsupported};
  }
  stack.set_words(*target.words);
  stack.expr.steps.push_back({Op::Label, target.number});
  target.passed = reachable_ = true;
  return ok_status();
}

Status Jumps::jump(std::span<const Dwarf_Op> ops, size_t i, TypedStack& stack) {
  const bool conditional = ops[i].atom == DW_OP_bra;
  Target& target = targets_.at(*target_of(ops, i));
  if (conditional) {
    if (is_wrong_way_round(ops, i)) {
      stack.expr.steps.insert(stack.expr.steps.end(), {{Op::PushConst, 0}, {Op::Eq}});
    }
    DJ_TRY_DO(stack.pop());
  }
  DJ_TRY_DO(arrive(target, stack));
  stack.expr.steps.push_back({conditional ? Op::JumpIf : Op::Jump, target.number, target.passed});
  reachable_ = conditional;
  return ok_status();
}

std::vector<LocStep> Jumps::adopted(std::vector<LocStep> steps) {
  std::map<int64_t, int64_t> numbers;
  for (LocStep& step : steps) {
    if (step.op == Op::Label || dj::is_jump(step.op)) {
      const auto [row, is_new] = numbers.try_emplace(step.a, next_label_);
      next_label_ += is_new;
      step.a = row->second;
    }
  }
  return steps;
}

}  // namespace dj
