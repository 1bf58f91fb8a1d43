// SPDX-License-Identifier: Apache-2.0
// What a kernel's text has that a program's has not: code at the upper half of addresses, entries
// behind a tracer's nop, instructions that stay, int3 behind jumps and returns.
#include <gtest/gtest.h>

#include "arch/x86_64/entry_place.h"
#include "arch/x86_64/placement.h"
#include "arch/x86_64/test_victim.h"

namespace dj::arch {
namespace {

using test::Victim;

constexpr uint64_t kKernel = 0xffffffff81000000, kProgram = 0x401000;

Victim kernel(const std::string& source) {
  Victim victim = test::link_victim(test::kFunctions + source,
                                    "-Ttext=0xffffffff81001000 -Tdata=0xffffffff81005000");
  const uint64_t modules = 0xffffffffc0000000;
  victim.text.code_space = Space{modules, modules, modules, 0xffffffffff000000};
  for (const auto& [name, address] : victim.symbols) victim.text.address_taken.push_back(address);
  std::sort(victim.text.address_taken.begin(), victim.text.address_taken.end());
  return victim;
}

Region check(const Victim& victim, uint64_t address, Guards guards = Guards::WhereNeeded) {
  Checker checker(victim.text);
  std::vector<Region> regions(1);
  regions[0].address = address;
  checker.check(regions, guards);
  return regions[0];
}

TEST(KernelText, EntriesAreBehindWhatTheTracerAndTheProcessorNeed) {
  const struct {
    const char* code;
    uint64_t kernels, programs;  // offsets
  } rows[] = {
      {"push %rbp", 0, 0},
      {"endbr64; push %rbp", 4, 4},
      {".byte 0x0f,0x1f,0x44,0,0; push %rbp", 5, 0},
      {"endbr64; .byte 0x0f,0x1f,0x44,0,0; push %rbp", 9, 4},
      {".byte 0x66,0x0f,0x1f,0; .byte 0x0f,0x1f,0x44,0,0; push %rbp", 9, 0},
      {".byte 0x66,0x0f,0x1f,0; push %rbp", 4, 0},
      {".byte 0x0f,0x1f,0x44,0", 0, 0},
      {"call .+100", 5, 0},  // the tracer is on
      {"endbr64; call .+100", 9, 4},
  };
  for (const auto& row : rows) {
    const std::vector<uint8_t> code = test::assemble(row.code);
    EXPECT_EQ(entry_place(code, kKernel), kKernel + row.kernels) << row.code;
    EXPECT_EQ(entry_place(code, kProgram), kProgram + row.programs) << row.code;
    EXPECT_EQ(has_tracer_place(code, kKernel), row.kernels >= 5) << row.code;
    EXPECT_FALSE(has_tracer_place(code, kProgram)) << row.code;
  }
  EXPECT_EQ(entry_place({}, kKernel), kKernel);
}

// The same code for programs: compilers put int3 behind returns against processors that guess.
TEST(KernelText, Int3BehindReturnsAndJumpsIsFree) {
  const struct {
    const char* source;  // probed at `here`
    bool is_plain;
  } rows[] = {
      {"func f; test %edi,%edi; je 1f; here: ret; int3; int3; int3; int3; 1: mov $1,%eax; ret; "
       "done f",
       true},
      {"func f; test %edi,%edi; je 1f; here: jmp f; int3; int3; int3; 1: mov $1,%eax; ret; done f",
       true},
      {"func f; test %edi,%edi; je 1f; here: jmp *%rax; int3; int3; int3; 1: mov $1,%eax; ret; "
       "done f",
       true},
      // Too few of them before the code that others reach.
      {"func f; test %edi,%edi; je 1f; here: ret; int3; int3; 1: mov $1,%eax; ret; done f", false},
      // Code goes there.
      {"func f; test %edi,%edi; je 1f; here: ret; int3; 1: int3; int3; int3; mov $1,%eax; ret; "
       "done f",
       false},
      // A debugger goes on behind an int3 that the program executes.
      {"func f; test %edi,%edi; here: int3; int3; int3; int3; int3; mov $1,%eax; ret; done f",
       false},
      // A call comes back.
      {"func f; push %rbx; test %edi,%edi; here: call *%rax; int3; int3; int3; int3; pop %rbx; "
       "ret; "
       "done f",
       false},
  };
  for (const auto& row : rows) {
    const Victim victim = kernel(row.source);
    const Region region = check(victim, victim.symbols.at("here"));
    EXPECT_EQ(is_plain(region), row.is_plain) << row.source << " " << verdict_name(region.verdict);
  }
}

TEST(KernelText, ExitsAreTheReturnsBeforeInt3) {
  const Victim victim = kernel(
      "func f; test %edi,%edi; je 1f; ret; int3; int3; int3; int3; 1: mov $1,%eax; ret; int3; "
      "int3; "
      "int3; int3; done f; .balign 64,0xcc");
  Checker checker(victim.text);
  const uint64_t f = victim.symbols.at("f");
  const Exits exits = checker.exits(f, f + victim.sizes.at("f"));
  ASSERT_TRUE(exits.complete) << exits.reason;
  ASSERT_EQ(exits.exits.size(), 2u);
  std::vector<Region> regions;
  for (const Exit& exit : exits.exits) regions.push_back(exit.region);
  checker.check(regions, Guards::WhereNeeded, Neighbours::Lean);
  for (const Region& region : regions) EXPECT_STREQ(checker.outcome(region).form, "plain");
}

// What a kernel makes of returns where the processor needs that, and its modules' jumps to it.
TEST(KernelText, JumpsOutsideAreTailCallsReturnsOrIndirect) {
  const Victim assembled = kernel(
      "func f; test %edi,%edi; je 1f; jmp thunk; 1: cmp $2,%edi; je 2f; jmp away; "
      "2: mov 8(%rsi),%rdx; jmp away_rdx; done f; func thunk; ret; done thunk; "
      ".set away, 0xffffffff82000000; .set away_rdx, 0xffffffff82001000; .balign 64,0xcc");
  Victim victim = assembled;
  const uint64_t f = victim.symbols.at("f");
  const auto exits = [&] {
    Checker checker(victim.text);
    return checker.exits(f, f + victim.sizes.at("f"));
  };
  EXPECT_NE(exits().reason.find("into unknown code"), std::string::npos);
  victim.text.functions_outside = {0xffffffff82000000};
  EXPECT_FALSE(exits().complete);
  victim.text.thunks_outside = {{0xffffffff82001000, 2}};
  Exits known = exits();
  ASSERT_TRUE(known.complete) << known.reason;
  ASSERT_EQ(known.exits.size(), 3u);
  EXPECT_EQ(known.exits[0].tail_target, victim.symbols.at("thunk"));
  EXPECT_EQ(known.exits[1].tail_target, 0xffffffff82000000);
  EXPECT_TRUE(known.exits[2].tail_jump && known.exits[2].tail_target == 0);
  victim.text.return_thunks = {victim.symbols.at("thunk")};
  known = exits();
  ASSERT_EQ(known.exits.size(), 3u);
  EXPECT_FALSE(known.exits[0].tail_jump);
  EXPECT_TRUE(known.exits[1].tail_jump);
  victim.text.return_thunks.push_back(0xffffffff82000000);
  EXPECT_FALSE(exits().exits[1].tail_jump);
}

// `fixed_x` is a function symbol with a size; the probe is at `here`.
const char* const kFixedBehind =
    "func f; here: push %rbx; .type fixed_x,@function; fixed_x: mov $1,%eax; .size fixed_x,5; "
    "pop %rbx; ret; done f";

TEST(KernelText, FixedInstructionsAreNotProbed) {
  const Victim victim = kernel(kFixedBehind);
  const uint64_t fixed = victim.symbols.at("fixed_x");
  for (const Guards guards : {Guards::None, Guards::WhereNeeded}) {
    const Region region = check(victim, fixed, guards);
    EXPECT_EQ(region.verdict, Verdict::FixedPlace);
    EXPECT_TRUE(refused(region.verdict));
  }
  // A table that names one byte means the instruction.
  Victim one_byte = victim;
  one_byte.text.fixed = {{fixed + 2, fixed + 3}};
  EXPECT_EQ(check(one_byte, fixed).verdict, Verdict::FixedPlace);
}

TEST(KernelText, JumpsEndBeforeFixedInstructions) {
  const struct {
    const char* before;  // what is probed, in front of the fixed instruction
    bool jumps;
  } rows[] = {
      {"push %rbx", false},
      {"mov %rdi,%rbx", false},
      {"push %rbx; mov %rdi,%rax", false},
      {"mov %rdi,8(%rax)", false},
      {"mov $2,%ebx", true},
      {"push %rbx; mov %rdi,8(%rax)", true},
      {"1: push %rbx; 2: mov %rdi,8(%rax); je 2b", true},
      {"push %rbx; 2: mov %rdi,%rbx; mov %rdi,%rbx; je 2b", true},
  };
  for (const auto& row : rows) {
    const Victim victim = kernel(std::string("func f; here: ") + row.before +
                                 "; .type fixed_x,@function; fixed_x: mov $1,%eax; .size "
                                 "fixed_x,5; pop %rbx; ret; done f; .balign 64,0xcc");
    const uint64_t here = victim.symbols.at("here"), fixed = victim.symbols.at("fixed_x");
    const Region region = check(victim, here);
    EXPECT_EQ(region.verdict == Verdict::Ok, row.jumps)
        << row.before << " " << verdict_name(region.verdict);
    EXPECT_FALSE(refused(region.verdict)) << row.before;
    if (!row.jumps) {
      EXPECT_EQ(region.verdict, Verdict::BeforeFixed) << row.before;
      EXPECT_EQ(region.culprit, fixed) << row.before;
    }
    // Neither covered, nor read as a part of the displacement, nor taken into the detour.
    for (const Placement& p : placements(region)) {
      EXPECT_LE(here + p.prefix + 5, fixed) << row.before << " " << tactic_name(p.tactic);
      EXPECT_LE(here + p.length, fixed) << row.before << " " << tactic_name(p.tactic);
    }
  }
}

TEST(KernelText, SitesThatShareBytesReachNoFixedInstruction) {
  const Victim victim = kernel(
      "func f; here: push %rbx; push %rcx; next: mov %rdi,8(%rax); .type fixed_x,@function; "
      "fixed_x: mov $1,%eax; .size fixed_x,5; pop %rcx; pop %rbx; ret; done f; .balign 64,0xcc");
  const uint64_t here = victim.symbols.at("here"), fixed = victim.symbols.at("fixed_x");
  Checker checker(victim.text);
  std::vector<Region> regions(2);
  regions[0].address = here;
  regions[1].address = victim.symbols.at("next");
  checker.check(regions, Guards::WhereNeeded, Neighbours::Lean);
  EXPECT_EQ(regions[1].verdict, Verdict::BeforeFixed);
  for (const Region& region : regions) {
    for (const Placement& p : placements(region))
      EXPECT_LE(region.address + p.prefix + 5, fixed) << tactic_name(p.tactic);
  }
}

TEST(KernelText, AnExitBehindAFixedInstructionStandsAlone) {
  const Victim victim = kernel(
      "func f; push %rbx; .type fixed_x,@function; fixed_x: mov (%rdi),%rbx; .size fixed_x,3; "
      "ret; done f; func g; ret; done g");
  Checker checker(victim.text);
  const uint64_t f = victim.symbols.at("f");
  Exits exits = checker.exits(f, f + victim.sizes.at("f"));
  ASSERT_EQ(exits.exits.size(), 1u);
  std::vector<Region> regions = {exits.exits[0].region};
  checker.check(regions, Guards::WhereNeeded);
  EXPECT_FALSE(refused(regions[0].verdict)) << verdict_name(regions[0].verdict);
  EXPECT_EQ(regions[0].address, exits.exits[0].exit_address);
}

TEST(KernelText, FixedInstructionsStayInWholeFunctions) {
  const Victim victim = kernel(kFixedBehind);
  const uint64_t fixed = victim.symbols.at("fixed_x");
  const Checker checker(victim.text);
  EXPECT_TRUE(checker.must_stay(fixed, fixed + 1));
  EXPECT_TRUE(checker.must_stay(fixed - 1, fixed + 9));
  EXPECT_TRUE(checker.must_stay(fixed + 4, fixed + 5));
  EXPECT_FALSE(checker.must_stay(fixed - 1, fixed));
  EXPECT_FALSE(checker.must_stay(fixed + 5, fixed + 6));
}

// mov $f+1,%rdi: four bytes whose sign the processor extends.
TEST(KernelText, AddressesInInstructionsAreSignExtended) {
  const char* source =
      "func g; mov $f+1,%rdi; ret; done g; .balign 64; func f; push %rax; mov $1,%eax; ret; done f";
  for (const Guards guards : {Guards::None, Guards::WhereNeeded}) {
    const Victim upper = kernel(source);
    const Region region = check(upper, upper.symbols.at("f"), guards);
    const Verdict reason = guards == Guards::None ? region.verdict : region.obstacle;
    EXPECT_EQ(reason, Verdict::AddressTaken);
    EXPECT_EQ(region.culprit, upper.symbols.at("g") + 3);
  }
  // mov $x,%edi clears the upper half: no address of a kernel.
  const Victim zeros = kernel(
      "func g; mov $0x81001041,%edi; ret; done g; .balign 64; func f; push %rax; mov $1,%eax; "
      "ret; done f");
  ASSERT_EQ(zeros.symbols.at("f"), 0xffffffff81001040);
}

}  // namespace
}  // namespace dj::arch
