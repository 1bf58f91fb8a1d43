// SPDX-License-Identifier: Apache-2.0
// Operands of SDT marks: what each form means, by hand, and what is none.
#include "compiler/debuginfo/sdt.h"

#include <gtest/gtest.h>

namespace dj {
namespace {

std::string meaning(const std::string& operand) {
  bool is_signed = false;
  const Result<LocExpr> value = operand_value(operand, &is_signed);
  return value.ok() ? to_string(value.value()) : "none";
}

TEST(Sdt, AddressesOfAllParts) {
  const LocStep read = {LocStep::Deref, 4, 1};
  const LocStep base[] = {{LocStep::PushReg, 6}, {LocStep::Add}};
  const LocStep index[] = {
      {LocStep::PushReg, 0}, {LocStep::PushConst, 2}, {LocStep::Mul}, {LocStep::Add}};
  const auto text = [&](int64_t displacement, bool with_base, bool with_index) {
    LocExpr expr{{{LocStep::PushConst, displacement}}};
    if (with_base) expr.steps.insert(expr.steps.end(), std::begin(base), std::end(base));
    if (with_index) expr.steps.insert(expr.steps.end(), std::begin(index), std::end(index));
    expr.steps.push_back(read);
    return to_string(expr);
  };
  EXPECT_EQ(meaning("-4@-3(%rbp,%rax,2)"), text(-3, true, true));
  EXPECT_EQ(meaning("-4@(,%rax,2)"), text(0, false, true));
  EXPECT_EQ(meaning("-4@0x10(%rbp)"), text(16, true, false));
  EXPECT_EQ(meaning("-4@16"), text(16, false, false));
}

TEST(Sdt, NumbersWithAFraction) {
  const LocExpr whole{{{LocStep::PushReg, 20}}};
  LocExpr half = {{{LocStep::PushConst, -4},
                   {LocStep::PushReg, 6},
                   {LocStep::Add},
                   {LocStep::Deref, 4, 0},
                   {LocStep::DoubleOfFloat}}};
  EXPECT_EQ(meaning("8f@%xmm3"), to_string(whole));
  EXPECT_EQ(meaning("-4f@-4(%rbp)"), to_string(half));
}

TEST(Sdt, PlacesOfSymbols) {
  LocExpr address{{{LocStep::PushConst, 0x4010}, {LocStep::PushBias}, {LocStep::Add}}};
  EXPECT_EQ(meaning("8@&[0x4010]"), to_string(address));
  address.steps.push_back({LocStep::Deref, 2, 1});
  EXPECT_EQ(meaning("-2@[0x4010]"), to_string(address));
}

TEST(Sdt, WhatIsNoOperand) {
  for (const char* operand :
       {"", "8@", "8@(", "8@()x", "3@%rax", "8@%rax2", "8@$", "8@(,,8)", "8@(%rax,,8)",
        "8@4(%rax,%rbx,2,%rcx)", "8@(%eax)", "8@counter(%rip)", "8@8(%rip)", "8f@%xmm16",
        "2f@%xmm0", "8@[0x10", "8@&[]", "99999999999999999999@%rax"}) {
    EXPECT_EQ(meaning(operand), "none") << operand;
  }
}

}  // namespace
}  // namespace dj
