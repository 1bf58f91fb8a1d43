// SPDX-License-Identifier: Apache-2.0
// The eight checks, each with a victim that provokes it; exits; collisions.
#include "arch/x86_64/safety.h"

#include <gtest/gtest.h>

#include <set>

#include "arch/x86_64/test_victim.h"

namespace dj::arch {
namespace {

using test::check_one;

// Nothing near: every check has something harmless around it.
const char* const kHarmless = R"(
  func harmless
    push %rbp
    mov %rsp,%rbp
    pop %rbp
    ret
  done harmless
  .balign 64,0xcc
  .data
  .quad harmless
  .text
)";

test::Victim victim(const std::string& source, bool independent = true) {
  test::Victim v = test::link_victim(std::string(test::kFunctions) + source + kHarmless);
  v.text.position_independent = independent;
  return v;
}

struct Case {
  const char* name;
  const char* source;  // the probe is at `here` if there is such a symbol, else at `f`
  Verdict verdict;
  int length;
  bool independent = true;
};

const Case kCases[] = {
    {"plain", "func f; push %rbp; mov %rsp,%rbp; sub $16,%rsp; leave; ret; done f", Verdict::Ok, 8},
    {"exact", "func f; mov $1,%eax; ret; done f; .byte 0xcc", Verdict::Ok, 5},
    {"not_boundary", "func f; mov $1,%eax; here=f+1; ret; done f", Verdict::NotBoundary, -1},
    {"no_function", "func f; ret; done f; here: mov $1,%eax; ret", Verdict::NotInFunction, 5},
    {"undecodable", "func f; nop; .byte 0x06,0x06,0x06,0x06,0x06,0x06; done f",
     Verdict::Undecodable, 1},
    {"own_loop_into", "func f; nop; 1: mov (%rdi),%eax; dec %eax; jne 1b; ret; done f",
     Verdict::BranchIntoRegion, 1},
    {"loop_to_ia", "func f; mov (%rdi),%eax; dec %eax; nop; jne f; ret; done f", Verdict::Ok, 5},
    {"jump_from_elsewhere",
     "func g; nop; jmp f+2; done g; func f; push %rax; nop; mov $1,%eax; ret; done f",
     Verdict::BranchIntoRegion, 1},
    {"call_into", "func g; nop; call f+1; ret; done g; func f; push %rax; mov $1,%eax; ret; done f",
     Verdict::BranchIntoRegion, 1},
    {"bnd_jump_into",
     "func g; bnd jmp f+1; done g; .balign 64; func f; push %rax; mov $1,%eax; ret; done f",
     Verdict::BranchIntoRegion, 1},
    {"loop_insn_into", "func f; push %rax; 1: mov $1,%eax; loop 1b; ret; done f",
     Verdict::BranchIntoRegion, 1},
    {"xbegin_into", "func f; push %rax; 1: mov $1,%eax; xbegin 1b; ret; done f",
     Verdict::BranchIntoRegion, 1},
    // e9 inside an immediate that would lead to f+1 is no jump.
    {"imagined_branch",
     "func g; movabs $0x90000000005e9,%rax; ret; done g; func f; push %rax; mov $1,%eax; ret; done "
     "f",
     Verdict::Ok, 6},
    {"branch_of_nobody", "jmp f+1; .balign 64; func f; push %rax; mov $1,%eax; ret; done f",
     Verdict::BranchIntoRegion, 1},
    {"indirect_unknown",
     "func f; push %rax; mov $1,%eax; imul $8,%rdi,%rcx; add %rsi,%rcx; jmp *%rcx; done f",
     Verdict::IndirectJump, 1},
    {"vtable_tail_call", "func f; mov (%rdi),%rax; mov 8(%rax),%rax; jmp *%rax; done f",
     Verdict::Ok, 7},
    {"landing_pad", "func f; push %rax; pad_f: mov $1,%eax; ret; done f", Verdict::LandingPad, 1},
    {"lea_taken",
     "func g; lea f+1(%rip),%rax; ret; done g; func f; push %rax; mov $1,%eax; ret; done f",
     Verdict::AddressTaken, 1},
    {"imm_taken", "func g; mov $f+1,%edi; ret; done g; func f; push %rax; mov $1,%eax; ret; done f",
     Verdict::AddressTaken, 1, false},
    {"imm_same_but_pie",
     "func g; mov $f+1,%edi; ret; done g; func f; push %rax; mov $1,%eax; ret; done f", Verdict::Ok,
     6, true},
    {"data_taken", ".data; .quad f+1; .text; func f; push %rax; mov $1,%eax; ret; done f",
     Verdict::AddressTaken, 1},
    {"inner_symbol", "func f; push %rax; func inner; mov $1,%eax; ret; done inner; done f",
     Verdict::AddressTaken, 1},
    {"function_end", "func f; xor %eax,%eax; ret; done f; func next; push %rax; ret; done next",
     Verdict::FunctionEnd, 2},
    {"padding_int3",
     "func f; xor %eax,%eax; ret; done f; .balign 16,0xcc; func next; ret; done next", Verdict::Ok,
     5},
    {"padding_nop", "func f; xor %eax,%eax; ret; done f; .balign 16; func next; ret; done next",
     Verdict::Ok, 5},
    {"padding_zero", "func f; xor %eax,%eax; ret; done f; .balign 16,0; func next; ret; done next",
     Verdict::Ok, 5},
    {"zeros_of_a_table",
     "func f; xor %eax,%eax; ret; done f; .quad 0, 0x5c5c; .balign 16; func next; ret; done next",
     Verdict::FunctionEnd, 2},
    {"padding_jumped_to",
     "func g; jmp f+4; done g; func f; xor %eax,%eax; ret; done f; .balign 16; func n; ret; done n",
     Verdict::BranchIntoRegion, 2},
    {"runs_on", "func f; push %rax; done f; func next; push %rax; ret; done next",
     Verdict::FunctionEnd, 1},
    {"not_relocatable", "func f; push %rax; lretl; ret; done f", Verdict::NotRelocatable, 1},
    {"unmovable", "func f; xbegin 1f; nop; 1: ret; done f", Verdict::Unmovable, 6},
    {"call_not_last", "func f; push %rbx; call *%rax; mov %rax,%rbx; ret; done f",
     Verdict::CallNotLast, 1},
    {"call_last", "func f; push %rbx; call f; mov %rax,%rbx; ret; done f", Verdict::Ok, 6},
    {"rseq",
     "func f; .type rseq_f,@function; rseq_f: push %rax; mov $1,%eax; .size rseq_f,6; ret; done f",
     Verdict::RseqSection, 1},
    {"rseq_signature",
     "func f; mov (%rdi),%eax; here: ret; .byte 0x0f,0x1f,0x05; signature_f: .long 0x53053053; mov "
     "$1,%eax; ret; done f",
     Verdict::DataInText, 1},
    {"before_rseq_signature",
     "func f; mov (%rdi),%eax; here: mov $1,%eax; signature_f: .long 0x53053053; ret; done f",
     Verdict::Ok, 5},
    {"in_rseq_signature", "func f; mov (%rdi),%eax; signature_f: here: mov $1,%eax; ret; done f",
     Verdict::RseqSection, 5},
    {"fixed",
     "func f; .type fixed_f,@function; fixed_f: push %rax; .size fixed_f,1; mov $1,%eax; mov "
     "$2,%ecx; ret; done f",
     Verdict::FixedPlace, 1},
    {"before_fixed",
     "func f; push %rax; .type fixed_f,@function; fixed_f: mov $1,%eax; .size fixed_f,5; ret; done "
     "f",
     Verdict::BeforeFixed, 1},
    {"reads_own_bytes", "func f; push %rax; 0: mov $1,%eax; mov 0b+1(%rip),%ebx; ret; done f",
     Verdict::DataInText, 1},
    {"trampoline", "func f; mov $15,%rax; syscall; done f", Verdict::Blacklisted, 7},
};

class Check : public testing::TestWithParam<Case> {};

TEST_P(Check, Says) {
  const Case& c = GetParam();
  const test::Victim v = victim(c.source, c.independent);
  const Region region = check_one(v, v.symbols.count("here") != 0 ? "here" : "f");
  EXPECT_STREQ(verdict_name(region.verdict), verdict_name(c.verdict));
  if (c.length >= 0) {
    EXPECT_EQ(region.length, c.length);
  }
  if (c.verdict == Verdict::BranchIntoRegion) {
    EXPECT_NE(region.culprit, 0u);
  }
  EXPECT_EQ(check_one(v, "harmless").verdict, Verdict::Ok);
}
// What any_breakpoint() sees in a function is what check() says, with those that it must look for
// elsewhere.
TEST_P(Check, AnyBreakpointSaysTheSame) {
  const Case& c = GetParam();
  const test::Victim v = victim(c.source, c.independent);
  const uint64_t here = v.symbols.at(v.symbols.count("here") != 0 ? "here" : "f");
  const bool breakpoint = c.verdict != Verdict::Ok && !refused(c.verdict);
  Checker checker(v.text);
  EXPECT_FALSE(checker.any_breakpoint({{.address = v.symbols.at("harmless")}}));
  Checker other(v.text);
  EXPECT_EQ(other.any_breakpoint({{.address = here}}), breakpoint);
}
INSTANTIATE_TEST_SUITE_P(Table, Check, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

// Each verdict has a victim here, but those of jump_tables_test.cpp, Collision and of guarded jumps
// alone.
TEST(Checks, EachSaysNoToSomebody) {
  std::set<Verdict> said = {Verdict::JumpTable, Verdict::InsideOtherSite, Verdict::OutOfReach};
  for (const Case& c : kCases) said.insert(c.verdict);
  for (int v = 0; v <= int(Verdict::OutOfReach); v++)
    EXPECT_EQ(said.count(Verdict(v)), 1u) << verdict_name(Verdict(v));
}

std::vector<Region> check_all(const test::Victim& v, std::vector<Region> regions) {
  Checker(v.text).check(regions);
  return regions;
}

Region at(uint64_t address) {
  Region region;
  region.address = address;
  return region;
}

TEST(Collision, FirstWinsAndLaterStaysBreakpoint) {
  const test::Victim v = victim("func f; mov $1,%eax; mov $2,%ecx; ret; done f; .balign 16,0xcc");
  const uint64_t f = v.symbols.at("f");
  auto apart = check_all(v, {at(f), at(f + 5)});
  EXPECT_EQ(apart[0].verdict, Verdict::Ok);
  EXPECT_EQ(apart[1].verdict, Verdict::Ok);
  auto same = check_all(v, {at(f), at(f)});  // aggregated
  EXPECT_EQ(same[0].verdict, Verdict::Ok);
  EXPECT_EQ(same[1].verdict, Verdict::Ok);
}

TEST(Collision, NoBreakpointStandsInsideAJump) {
  const test::Victim v = victim(
      "func f; push %rax; push %rcx; mov $1,%eax; pop %rcx; pop %rcx; ret; done f; .balign "
      "16,0xcc");
  const uint64_t f = v.symbols.at("f");
  for (const bool inner_first : {false, true}) {
    std::vector<Region> regions = {at(f), at(f + 1)};
    if (inner_first) std::swap(regions[0], regions[1]);
    regions = check_all(v, regions);
    const Region& inner = regions[inner_first ? 0 : 1];
    const Region& outer = regions[inner_first ? 1 : 0];
    EXPECT_EQ(outer.verdict, Verdict::InsideOtherSite) << inner_first;
    EXPECT_EQ(outer.length, 1);
    // The inner one's jump covers nothing of the outer int3, which stands before it.
    EXPECT_EQ(inner.verdict, inner_first ? Verdict::Ok : Verdict::InsideOtherSite);
  }
}

TEST(Collision, JumpGivesWayToABreakpointThatCannotMove) {
  const test::Victim v = victim("func f; push %rax; push %rcx; mov $1,%al; nop; lretl; done f");
  const uint64_t f = v.symbols.at("f");
  EXPECT_EQ(check_one(v, "f").verdict, Verdict::Ok);
  for (const bool inner_first : {false, true}) {
    std::vector<Region> regions = {at(f), at(f + 2)};
    if (inner_first) std::swap(regions[0], regions[1]);
    regions = check_all(v, regions);
    EXPECT_EQ(regions[inner_first ? 0 : 1].verdict, Verdict::NotRelocatable);
    EXPECT_EQ(regions[inner_first ? 1 : 0].verdict, Verdict::InsideOtherSite);
    EXPECT_EQ(regions[inner_first ? 1 : 0].culprit, f + 2);
  }
}

Exits exits_of(const test::Victim& v, const std::string& symbol) {
  Checker checker(v.text);
  const uint64_t begin = v.symbols.at(symbol);
  return checker.exits(begin, begin + v.sizes.at(symbol));
}

TEST(Exits, AllReturnsWithTheirShortestRegions) {
  const test::Victim v = victim(
      "func f; test %edi,%edi; je 1f; pop %rbx; pop %rbp; add $24,%rsp; ret; 1: mov $7,%eax; rep "
      "ret; done f;"
      "func next; ret; done next");
  const Exits exits = exits_of(v, "f");
  ASSERT_TRUE(exits.complete) << exits.reason;
  ASSERT_EQ(exits.exits.size(), 2u);
  const Exit& first = exits.exits[0];
  EXPECT_EQ(first.exit_address - first.region.address, 4u);  // add; ret is enough
  EXPECT_EQ(first.region.length, 5);
  EXPECT_EQ(first.region.verdict, Verdict::Ok);
  const Exit& second = exits.exits[1];
  EXPECT_EQ(second.exit_address - second.region.address, 5u);
  EXPECT_EQ(second.region.length, 7);
  EXPECT_FALSE(second.tail_jump);
  EXPECT_EQ(v.text.functions.size(), 3u);
}

TEST(Exits, BlockTooShortBecomesBreakpointOnTheReturn) {
  const test::Victim v = victim(
      "func f; nop; nop; nop; test %edi,%edi; jne 1f; mov $1,%eax; 1: pop %rbx; pop %rbp; ret; "
      "done f;"
      "func next; ret; done next");
  const Exits exits = exits_of(v, "f");
  ASSERT_TRUE(exits.complete);
  ASSERT_EQ(exits.exits.size(), 1u);
  EXPECT_EQ(exits.exits[0].region.verdict, Verdict::BranchIntoRegion);
  EXPECT_EQ(exits.exits[0].region.address, exits.exits[0].exit_address);
  EXPECT_EQ(exits.exits[0].region.length, 1);
}

TEST(Exits, TailJumpsDirectAndImported) {
  const test::Victim v = victim(
      "func g; ret; done g; func f; test %edi,%edi; je 1f; jmp g+0; .byte 0xcc; 1: jmp "
      "*slot(%rip); done f;"
      "func h; call g; call f; ret; done h; .data; .balign 8; slot: .quad 0; .text");
  const Exits exits = exits_of(v, "f");
  ASSERT_TRUE(exits.complete) << exits.reason;
  ASSERT_EQ(exits.exits.size(), 2u);
  EXPECT_TRUE(exits.exits[0].tail_jump);
  EXPECT_TRUE(exits.exits[1].tail_jump);
}

// f's returns are also those of whoever jumps into f's middle, is called there, or ...
TEST(Exits, SharedWithOthersAreMarked) {
  const char* f = "func f; test %edi,%edi; je 1f; nop; 1: mov $1,%eax; ret; done f;";
  const test::Victim alone = victim(f);
  EXPECT_TRUE(exits_of(alone, "f").complete);
  EXPECT_FALSE(exits_of(alone, "f").shared);
  const test::Victim jumped =
      victim(std::string(f) + "func g; mov $2,%ecx; jmp 1b; done g; func h; call g; ret; done h");
  EXPECT_TRUE(exits_of(jumped, "f").complete);
  EXPECT_TRUE(exits_of(jumped, "f").shared);
  // g leaves by f's exit alone.
  const Exits of_g = exits_of(jumped, "g");
  EXPECT_TRUE(of_g.complete && of_g.shared);
  EXPECT_EQ(of_g.exits.size(), 1u);
  const test::Victim nested = victim(
      "func f; mov $1,%eax; func inner; mov $2,%ecx; ret; done inner; done f;"
      "func h; call inner; ret; done h");
  EXPECT_TRUE(exits_of(nested, "f").shared);
  EXPECT_EQ(exits_of(nested, "f").exits.size(), 1u);  // of two functions, found once
}

// ... g is an implementation that a resolver picks by its address: no .cold part of f.
TEST(Exits, FunctionWhoseAddressIsLoadedIsNoColdPart) {
  const test::Victim v = victim(
      "func f; test %edi,%edi; js 1f; mov $1,%eax; ret; done f;"
      "func g; mov $2,%eax; 1: ret; done g; func h; lea g(%rip),%rax; ret; done h");
  EXPECT_TRUE(exits_of(v, "f").shared);
}

TEST(Exits, RunningOnSharesTheNextFunctionsExits) {
  const test::Victim v =
      victim("func f; nop; done f; func g; ret; done g; func h; call g; ret; done h");
  const Exits exits = exits_of(v, "f");
  EXPECT_TRUE(exits.complete && exits.shared);
  EXPECT_EQ(exits.exits.size(), 1u);
}

TEST(Exits, ColdPartIsFollowed) {
  const test::Victim v = victim(
      "func f; test %edi,%edi; js cold; 1: mov $1,%eax; ret; done f; .balign 16,0xcc;"
      "func cold; cmp $-5,%edi; je 1b; mov $2,%eax; ret; done cold; func h; call f; ret; done h");
  const Exits exits = exits_of(v, "f");
  ASSERT_TRUE(exits.complete) << exits.reason;
  EXPECT_EQ(exits.exits.size(), 2u);  // one of them in the cold part
}

TEST(Exits, AnInterruptComesBack) {
  EXPECT_TRUE(exits_of(victim("func f; int $0x80; nop; ret; done f"), "f").complete);
}

TEST(Exits, UnknownWaysOutAreSaid) {
  const struct {
    const char* source;
    const char* reason;
  } cases[] = {
      {"func f; nop; done f; .byte 0x06", "runs on"},
      {"1: nop; ret; func f; jmp 1b; done f", "unknown code"},
      {"func f; dec %edi; jz 1f; jmp f; done f; func g; nop; 1: ret; done g; func h; call g; ret; "
       "done h",
       "loops to its entry"},
      {"func f; lea 1f(%rip),%rax; jmp *%fs:(%rcx); 1: ret; done f", "indirect jump"},
  };
  for (const auto& c : cases) {
    const test::Victim v = victim(c.source);
    const Exits exits = exits_of(v, "f");
    EXPECT_FALSE(exits.complete) << c.source;
    EXPECT_NE(exits.reason.find(c.reason), std::string::npos) << c.source << ": " << exits.reason;
  }
}

// Exits that only the running program knows: the detour finds out.
TEST(Exits, SomeLeaveOnlySometimes) {
  const struct {
    const char* source;
    Leaving::How how;
  } cases[] = {
      {"func f; test %edi,%edi; je g; ret; done f; func g; ret; done g; func h; call g; ret; done "
       "h",
       Leaving::IfTaken},
      {"func f; jrcxz g; ret; done f; func g; ret; done g; func h; call g; ret; done h",
       Leaving::IfTaken},
      {"func f; imul $8,%rdi,%rcx; add %rsi,%rcx; jmp *%rcx; done f", Leaving::IfOutside},
      {"func f; jmp *table(,%rdi,8); 1: mov $1,%eax; ret; done f; .data; table: .quad 1b; .text",
       Leaving::IfOutside},
  };
  for (const auto& c : cases) {
    const test::Victim v = victim(c.source);
    const Exits exits = exits_of(v, "f");
    ASSERT_TRUE(exits.complete) << c.source << ": " << exits.reason;
    const Exit& exit = exits.exits[0];
    EXPECT_TRUE(exit.tail_jump) << c.source;
    EXPECT_EQ(exit.leaving.how, c.how) << c.source;
    if (c.how == Leaving::IfOutside) {
      ASSERT_EQ(exit.leaving.inside.size(), 1u);
      EXPECT_EQ(exit.leaving.inside[0].begin, v.symbols.at("f") + 1);  // f itself is called
    }
  }
}

// Fragments are told from functions that are only tail-called.
TEST(Exits, FragmentsAreNoFunctions) {
  const char* f =
      "func f; test %edi,%edi; js other; 1: mov $1,%eax; ret; done f;"
      "func h; call f; ret; done h; .balign 16,0xcc;";
  const struct {
    const char* other;
    bool fragment;
  } cases[] = {
      {"func other; mov $2,%eax; jmp 1b; done other", true},         // back into the middle
      {"func other; pop %rbx; mov $2,%eax; ret; done other", true},  // not its own stack
      {"func other; push %rbx; pop %rbx; leave; ret; done other", true},
      {"func other; ud2; done other", true},
      {"func other; push %rbx; pop %rbx; ret; done other", false},
      {"func other; push %rbp; mov %rsp,%rbp; leave; ret; done other", false},
      {"func other; ud2; done other; func k; call other; ret; done k", false},
  };
  for (const auto& c : cases) {
    const test::Victim v = victim(std::string(f) + c.other);
    EXPECT_EQ(Checker(v.text).is_fragment(v.symbols.at("other")), c.fragment) << c.other;
    EXPECT_FALSE(Checker(v.text).is_fragment(v.symbols.at("f"))) << c.other;
    const Exits exits = exits_of(v, "f");
    EXPECT_TRUE(exits.complete) << c.other << ": " << exits.reason;
  }
}

// Entry and exit of a very short function: whatever is decided, nothing may overlap.
TEST(Exits, ShortFunctionsNeverOverlap) {
  const char* bodies[] = {
      "ret",          "xor %eax,%eax; ret",       "mov $1,%eax; ret",     "nop; nop; nop; ret",
      "jmp harmless", "push %rax; pop %rax; ret", "lea 1(%rdi),%eax; ret"};
  for (const char* body : bodies) {
    for (const char* padding : {"", ".balign 16,0xcc", ".byte 0xcc,0xcc,0xcc,0xcc"}) {
      const test::Victim v =
          victim(std::string("func f; ") + body + "; done f; " + padding +
                 "; func next; push %rax; ret; done next; func c; call harmless; ret; done c;");
      Checker checker(v.text);
      const uint64_t f = v.symbols.at("f");
      const Exits exits = checker.exits(f, f + v.sizes.at("f"));
      ASSERT_TRUE(exits.complete) << body << ": " << exits.reason;
      std::vector<Region> regions = {at(f)};
      for (const Exit& exit : exits.exits) regions.push_back(exit.region);
      checker.check(regions);
      ASSERT_EQ(regions.size(), 2u);
      const Region &a = regions[0], &b = regions[1];
      const auto patched = [](const Region& r) {
        return r.verdict == Verdict::Ok ? uint64_t(r.length) : 1;
      };
      const bool apart = a.address + patched(a) <= b.address || b.address + patched(b) <= a.address;
      const bool one_site = a.address == b.address && b.probe_address == b.address;
      EXPECT_TRUE(apart || one_site) << body << padding;
    }
  }
}

}  // namespace
}  // namespace dj::arch
