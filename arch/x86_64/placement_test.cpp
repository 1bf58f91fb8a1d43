// SPDX-License-Identifier: Apache-2.0
// The guarded rules and the forms of a jump: which boundaries are int3, which bytes stay.
#include "arch/x86_64/placement.h"

#include <gtest/gtest.h>

#include "arch/x86_64/test_victim.h"

namespace dj::arch {
namespace {

// `f` is the probed function.
test::Victim victim(const std::string& body, bool independent = true) {
  test::Victim v = test::link_victim(test::kFunctions + body + "\n.balign 64,0xcc\n");
  v.text.position_independent = independent;
  return v;
}

Region check(const test::Victim& v, Guards guards, const char* symbol = "f") {
  std::vector<Region> regions(1);
  regions[0].address = v.symbols.at(symbol);
  Checker(v.text).check(regions, guards);
  return regions[0];
}

struct Case {
  const char* name;
  const char* body;
  Verdict plain;    // with Guards::None
  uint32_t guards;  // WhereNeeded
  Verdict obstacle;
  Tactic tactic;  // of the best placement
};

const Case kCases[] = {
    {"nobody_arrives", "func f; push %rax; mov $1,%eax; ret; done f", Verdict::Ok, 0, Verdict::Ok,
     Tactic::Plain},
    {"loop_head", "func f; push %rax; 1: mov (%rdi),%eax; dec %eax; jne 1b; ret; done f",
     Verdict::BranchIntoRegion, 1 << 1, Verdict::BranchIntoRegion, Tactic::Guarded},
    {"landing_pad", "func f; push %rax; pad_f: mov $1,%eax; ret; done f", Verdict::LandingPad,
     1 << 1, Verdict::LandingPad, Tactic::Guarded},
    {"address_taken", ".data; .quad f+1; .text; func f; push %rax; mov $1,%eax; ret; done f",
     Verdict::AddressTaken, 1 << 1, Verdict::AddressTaken, Tactic::Guarded},
    {"indirect_jump",
     "func f; push %rax; push %rcx; mov $1,%eax; imul $8,%rdi,%rcx; jmp *%rcx; done f",
     Verdict::IndirectJump, 1 << 1 | 1 << 2, Verdict::IndirectJump, Tactic::Guarded},
    // Control comes back behind the call.
    {"call_first", "func f; call *%rax; mov %rax,%rbx; xor %eax,%eax; ret; done f",
     Verdict::CallNotLast, 1 << 2, Verdict::CallNotLast, Tactic::Guarded},
    // The window runs over f's end into the next function.
    {"next_function",
     "func f; xor %eax,%eax; ret; done f; func g; push %rbx; mov $1,%eax; ret; done g",
     Verdict::FunctionEnd, 1 << 3 | 1 << 4, Verdict::FunctionEnd, Tactic::Guarded},
    // ... which may not lose its endbr64: its bytes stay.
    {"next_endbr", "func f; xor %eax,%eax; ret; done f; func g; endbr64; mov $1,%eax; ret; done g",
     Verdict::FunctionEnd, 0, Verdict::AddressTaken, Tactic::Punned},
    {"second_stays", "func f; push %rax; push %rcx; lretl; done f", Verdict::NotRelocatable, 0,
     Verdict::NotRelocatable, Tactic::Punned},
    // What is read there is no instruction.
    {"data_behind_jump",
     "func f; jmp 1f; 0: .quad 0x9090909090909088; 1: mov 0b(%rip),%rbx; ret; done f",
     Verdict::FunctionEnd, 0, Verdict::FunctionEnd, Tactic::Punned},
    {"reads_own_immediate", "func f; push %rax; 0: mov $1,%eax; mov 0b+1(%rip),%ebx; ret; done f",
     Verdict::DataInText, 0, Verdict::DataInText, Tactic::Punned},
    // A branch past a lock prefix: the instruction must not be covered.
    {"into_instruction", "func f; xor %eax,%eax; lock; 1: incl (%rdi); ret; jmp 1b; done f",
     Verdict::BranchIntoRegion, 0, Verdict::BranchIntoRegion, Tactic::Punned},
};

class Guarded : public testing::TestWithParam<Case> {};

TEST_P(Guarded, Says) {
  const Case& c = GetParam();
  const test::Victim v = victim(c.body);
  EXPECT_STREQ(verdict_name(check(v, Guards::None).verdict), verdict_name(c.plain));
  const Region region = check(v, Guards::WhereNeeded);
  ASSERT_STREQ(verdict_name(region.verdict), "ok");
  EXPECT_STREQ(verdict_name(region.obstacle), verdict_name(c.obstacle));
  const std::vector<Placement> forms = placements(region);
  ASSERT_FALSE(forms.empty());
  EXPECT_STREQ(tactic_name(forms[0].tactic), tactic_name(c.tactic));
  EXPECT_EQ(forms[0].guards, c.guards);
}
INSTANTIATE_TEST_SUITE_P(Table, Guarded, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

// Nobody may be seen to come back there, but a detour must leave that to the program.
TEST(Guarded, NoFormReachesBehindALastCall) {
  for (const char* call : {"call g", "call *%rax"}) {
    const test::Victim v = victim(std::string("func g; ret; done g; .balign 16; func f; ") + call +
                                  "; done f; .skip 4,0x90; func h; push %rax; ret; done h");
    const Region region = check(v, Guards::WhereNeeded);
    ASSERT_EQ(region.verdict, Verdict::Ok);
    for (const Placement& form : placements(region)) EXPECT_EQ(form.length, region.first) << call;
  }
}

TEST(Everywhere, EveryBoundaryInsideTheWindow) {
  const test::Victim v = victim("func f; push %rax; push %rcx; mov $1,%eax; ret; done f");
  const Region region = check(v, Guards::Everywhere);
  ASSERT_EQ(region.verdict, Verdict::Ok);
  EXPECT_EQ(region.length, 7);
  EXPECT_EQ(placements(region)[0].guards, 1u << 1 | 1u << 2);
  EXPECT_EQ(placements(region)[0].mask, 0x0000ffffu);
  EXPECT_EQ(placements(region)[0].value, 0x0000ccccu);
}

TEST(Refused, WhoArrivesInsideTheProbedInstruction) {
  const test::Victim v = victim("func f; lock; 1: incl (%rdi); ret; jmp 1b; done f");
  EXPECT_EQ(check(v, Guards::Everywhere).verdict, Verdict::BranchIntoRegion);
}

// A four-byte instruction's guard is rel32's top byte: 0.86 GB below, no address in a program that
// is linked at 4 MB. A prefix moves it one byte down.
TEST(Prefix, SparesTheTopByte) {
  const test::Victim v =
      victim("func f; lea 8(%rdi),%rax; 1: mov $1,%ecx; loop 1b; ret; done f", false);
  const Region region = check(v, Guards::WhereNeeded);
  ASSERT_EQ(region.verdict, Verdict::Ok);
  const std::vector<Placement> forms = placements(region);
  EXPECT_EQ(forms[0].prefix, 0);
  EXPECT_FALSE(reachable(forms[0], space_of(v.text)));
  ASSERT_GE(forms.size(), 2u);
  EXPECT_EQ(forms[1].prefix, 1);
  EXPECT_EQ(forms[1].mask, 0x00ff0000u);
  const auto target = reachable(forms[1], space_of(v.text));
  ASSERT_TRUE(target);
  const JumpBytes bytes = jump_bytes(region, forms[1], *target);
  ASSERT_EQ(bytes.size(), 6u);
  EXPECT_EQ(bytes[0], 0x2e);
  EXPECT_EQ(bytes[1], 0xe9);
  EXPECT_EQ(bytes[4], 0xcc);
}

TEST(Punned, LeavesWhatFollows) {
  const test::Victim v = victim("func f; mov (%rdi),%eax; iretl; ret; ret; done f");
  const Region region = check(v, Guards::Everywhere);
  ASSERT_EQ(region.verdict, Verdict::Ok);
  EXPECT_EQ(region.length, 2);
  const Placement form = placements(region)[0];
  EXPECT_EQ(form.length, 2);
  EXPECT_EQ(form.mask, 0xffffff00u);
  EXPECT_EQ(form.value, 0xc3c3cf00u);  // iret; ret; ret
  const auto target = reachable(form, space_of(v.text));
  ASSERT_TRUE(target);
  const JumpBytes bytes = jump_bytes(region, form, *target);
  EXPECT_EQ(std::vector<uint8_t>(bytes.begin() + 2, bytes.end()),
            (std::vector<uint8_t>{0xcf, 0xc3, 0xc3}));
}

}  // namespace
}  // namespace dj::arch
