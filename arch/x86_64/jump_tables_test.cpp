// SPDX-License-Identifier: Apache-2.0
// Where indirect jumps lead: switches as compilers write them, in parts of functions that were
// split off and by thunks, and addresses that were computed and kept.
#include "arch/x86_64/jump_tables.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "arch/x86_64/safety.h"
#include "arch/x86_64/test_victim.h"

namespace dj::arch {
namespace {

using test::check_one;

test::Victim victim(const std::string& source) {
  return test::link_victim(std::string(test::kFunctions) + source +
                           "func h; call f; ret; done h; .balign 64,0xcc");
}

// gcc's switch: the probed instructions include a case label, so only the table can tell.
const std::string kSwitch = R"(
  func f
    cmp $3,%edi
    ja 9f
    lea 5f(%rip),%rdx
    mov %edi,%edi
    movslq (%rdx,%rdi,4),%rax
    add %rdx,%rax
    notrack jmp *%rax
  1: push %rax
  here: nop
  2: mov $2,%eax
    ret
  3: mov $3,%eax
    ret
  9: xor %eax,%eax
    nop
    nop
    nop
    ret
  done f
  .section .rodata
  .balign 4
  5: .long 1b-5b, 2b-5b, 3b-5b, 3b-5b, 1431655765
  .text
)";

std::string replaced(std::string source, const std::string& what, const std::string& by) {
  return source.replace(source.find(what), what.size(), by);
}

TEST(JumpTable, EntriesAreTargets) {
  const test::Victim v = victim(kSwitch);
  EXPECT_EQ(check_one(v, "here").verdict, Verdict::JumpTable);
  EXPECT_EQ(check_one(v, "here").culprit, v.symbols.at("here") + 1);
  EXPECT_EQ(check_one(v, "here", 1).verdict, Verdict::Ok);  // the case itself
  EXPECT_EQ(check_one(v, "f").verdict, Verdict::Ok);
}

TEST(JumpTable, SpilledBaseIsUnknown) {
  const test::Victim v = victim(replaced(kSwitch, "mov %edi,%edi", "mov 8(%rsp),%rdx"));
  EXPECT_EQ(check_one(v, "f").verdict, Verdict::IndirectJump);
}

TEST(JumpTable, WithReturnsIsComplete) {
  const test::Victim v = victim(kSwitch);
  const uint64_t f = v.symbols.at("f");
  const Exits exits = Checker(v.text).exits(f, f + v.sizes.at("f"));
  ASSERT_TRUE(exits.complete) << exits.reason;
  EXPECT_EQ(exits.exits.size(), 3u);
}

// The other way round: f's rare cases are a switch that leads into f. `entered`: how
// control comes there.
std::string split_off(const std::string& entered) {
  return "func f; " + entered + R"(
      xor %eax,%eax
      ret
    1: push %rax
    here: nop
    2: mov $2,%eax
      ret
    done f
    .section .text.unlikely,"ax"
    func cold
      lea 5f(%rip),%rdx
    inner:
      cmp $1,%rdi
      ja 1b
      movslq (%rdx,%rdi,4),%rax
      add %rdx,%rax
      jmp *%rax
    done cold
    .section .rodata
    .balign 4
    5: .long 1b-5b, 2b-5b, 1431655765
    6: .long inner-6b, 1431655765
    .text
  )";
}

const char* const kByTable =
    "lea 6f(%rip),%rcx; movslq (%rcx,%rdi,4),%rax; add %rcx,%rax; jmp *%rax;";

TEST(JumpTable, OfAPartSplitOffLeadsBack) {
  for (const char* entered : {"cmp $9,%edi; ja cold;", "jmp cold;", kByTable}) {
    const test::Victim v = victim(split_off(entered));
    EXPECT_EQ(check_one(v, "here").verdict, Verdict::JumpTable) << entered;
    EXPECT_EQ(check_one(v, "here", 1).verdict, Verdict::Ok) << entered;
  }
}

// Without a bound, and with entries of its own before.
TEST(JumpTable, OfAPartIsReadOn) {
  std::string source = replaced(split_off("jmp cold;"), "cmp $1,%rdi", "nop");
  source = replaced(source, "ja 1b", "3: nop");
  source = replaced(source, "5: .long ", "5: .long 3b-5b, ");
  const test::Victim v = victim(source);
  EXPECT_EQ(check_one(v, "here").verdict, Verdict::JumpTable);
  EXPECT_EQ(check_one(v, "here", 1).verdict, Verdict::Ok);
}

TEST(JumpTable, OfAPartThatCatchesLeadsBack) {
  test::Victim v = victim(split_off("mov $1,%eax;"));
  v.text.far_pads = {{v.symbols.at("f"), v.symbols.at("inner")}};
  EXPECT_EQ(check_one(v, "here").verdict, Verdict::JumpTable);
}

TEST(JumpTable, UnknownInAPartSplitOff) {
  const std::string source = split_off("cmp $9,%edi; ja cold;");
  EXPECT_EQ(check_one(victim(source), "f").verdict, Verdict::Ok);
  const std::string spilled = replaced(source, "lea 5f(%rip),%rdx", "mov 8(%rsp),%rdx");
  EXPECT_EQ(check_one(victim(spilled), "f").verdict, Verdict::IndirectJump);
  // A function that is called has its own jumps: f only ends in it.
  EXPECT_EQ(
      check_one(victim(replaced(spilled, "ja 1b", "nop") + "func k; call cold; ret; done k;"), "f")
          .verdict,
      Verdict::Ok);
}

const char* const kRetpoline =
    "call 7f; 6: pause; lfence; jmp 6b; .balign 16,0xcc; 7: mov %rax,(%rsp); ret";

TEST(JumpTable, ReadByAThunk) {
  const std::string jump = "notrack jmp *%rax";
  const std::string sources[] = {
      replaced(kSwitch, jump, kRetpoline),
      replaced(kSwitch, jump, "jmp thunk") + "func thunk; " + kRetpoline + "; done thunk;",
      replaced(kSwitch, jump, "jmp thunk") + "func thunk; lfence; jmp *%rax; done thunk;",
  };
  for (const std::string& source : sources) {
    const test::Victim v = victim(source);
    EXPECT_EQ(check_one(v, "here").verdict, Verdict::JumpTable) << source;
    EXPECT_EQ(check_one(v, "here", 1).verdict, Verdict::Ok) << source;
    EXPECT_EQ(check_one(v, "f").verdict, Verdict::Ok) << source;
    const test::Victim spilled = victim(replaced(source, "mov %edi,%edi", "mov 8(%rsp),%rdx"));
    EXPECT_EQ(check_one(spilled, "f").verdict, Verdict::IndirectJump) << source;
  }
}

const char* const kSum =
    "lea 1f(%rip),%rax; lea 5f(%rip),%rcx; movslq (%rcx,%rsi,4),%rdx; add %rax,%rdx;";

// A goto by a label's distance from another one; `keep`, `use`: what becomes of the sum.
std::string kept(const std::string& keep, const std::string& use, const char* sum = kSum) {
  return "func f; push %rbx; mov %rdi,%rbx; " + std::string(sum) + keep + "call h; " + use +
         "1: pop %rbx; ret; 2: nop; pop %rbx; mov $2,%eax; ret; done f;"
         ".section .rodata; .balign 4; 5: .long 1b-1b, 2b-1b; .text;";
}

TEST(JumpTable, SumKeptInTheFrameIsUnknown) {
  const std::pair<const char*, const char*> ways[] = {
      {"mov %rdx,8(%rsp);", "mov 8(%rsp),%rax; jmp *%rax;"},
      {"mov %rdx,8(%rsp);", "jmp *8(%rsp);"},
      {"mov %rdx,(%rsp);", "jmp *(%rsp);"},
      {"mov %rdx,0x100(%rsp);", "jmp *0x100(%rsp);"},
      {"mov %rsp,%rbp; mov %rdx,-8(%rbp);", "mov -8(%rbp),%rcx; jmp *%rcx;"},
      {"lea 16(%rsp),%rbp; mov %rdx,-8(%rbp);", "jmp *-8(%rbp);"},
      {"movaps %xmm0,(%rsp);", "jmp *8(%rsp);"},
      {"sub $24,%rsp; movaps %xmm0,16(%rsp);", "jmp *24(%rsp);"},
  };
  for (const auto& [keep, use] : ways)
    EXPECT_EQ(check_one(victim(kept(keep, use)), "f").verdict, Verdict::IndirectJump) << use;
}

// What only a jump by the frame leads to may find any value in a register.
TEST(JumpTable, SumBehindAJumpByTheFrameIsUnknown) {
  const char* const pointer = "mov 16(%rdi),%rax;";
  const std::string known = kept("mov %rax,8(%rsp);", "jmp *8(%rsp);", pointer);
  EXPECT_EQ(check_one(victim(known), "f").verdict, Verdict::Ok);
  const std::string behind =
      kept("mov %rax,8(%rsp);", std::string(kSum) + "jmp *8(%rsp); jmp *%rdx;", pointer);
  EXPECT_EQ(check_one(victim(behind), "f").verdict, Verdict::IndirectJump);
}

TEST(JumpTable, PointerKeptInTheFrameIsKnown) {
  const char* const pointer = "mov 16(%rdi),%rdx;";
  const std::pair<const char*, const char*> ways[] = {
      {"mov %rdx,8(%rsp);", "mov 8(%rsp),%rax; jmp *%rax;"},
      {"mov %rdx,8(%rsp);", "jmp *8(%rsp);"},
      {"mov %rsp,%rbp; mov %rdx,-8(%rbp);", "mov -8(%rbp),%rcx; jmp *%rcx;"},
      {"test %rsi,%rsi; jne 3f; xor %edx,%edx; 3: mov %rdx,8(%rsp);", "jmp *8(%rsp);"},
      {"mov %rdi,%rbp;", "mov 8(%rbp),%rax; jmp *%rax;"},  // no frame's
      {"", "mov 16(%rsp),%rax; jmp *%rax;"},               // the caller's, behind rbx and his address
      {"sub $24,%rsp;", "mov 40(%rsp),%rcx; jmp *%rcx;"},
      {"mov %rsp,%rbp;", "jmp *16(%rbp);"},
  };
  for (const auto& [keep, use] : ways)
    EXPECT_EQ(check_one(victim(kept(keep, use, pointer)), "f").verdict, Verdict::Ok) << use;
}

// A switch over `cases` that a table leads to; `dispatch` has the index in rdi and loads it.
std::string table(const std::string& dispatch, const std::string& entries) {
  return "func f; " + dispatch + R"(
      lea 5f(%rip),%rdx
      movslq (%rdx,%rdi,4),%rax
      add %rdx,%rax
      jmp *%rax
    a: mov $1,%eax
      ret
    b: mov $2,%eax
      ret
    c: mov $3,%eax
      ret
    9: xor %eax,%eax
      ret
    done f
    end: .balign 16,0x90
    .section .rodata
    .balign 4
    5: .long )" +
         entries + "; .text;";
}

// The labels that the table of f is read to lead to; "?": its jump is not resolved.
std::string targets(const std::string& dispatch, const std::string& entries) {
  const test::Victim v = victim(table(dispatch, entries));
  const Module module(v.text);
  const Function function = module.decode(*module.function_at(v.symbols.at("f")));
  Flow flow(module, function);
  for (uint32_t i = 0; i < function.insns.size(); i++) {
    if (function.insns[i].kind != Kind::JumpIndirect) continue;
    const IndirectTargets to = indirect_targets(flow, module, i);
    if (to.way != Way::Table) return "?";
    std::string labels;
    for (const char* label : {"a", "b", "c"}) {
      const uint64_t at = v.symbols.at(label);
      if (std::find(to.targets.begin(), to.targets.end(), at) != to.targets.end()) labels += label;
    }
    return labels;
  }
  return "no jump";
}

// The entry behind the bound is another table's, and leads into f by chance.
TEST(JumpTable, EndsAtAComparison) {
  const char* const entries = "a-5b, b-5b, c-5b, 1431655765";
  for (const char* dispatch : {
           "cmp $1,%edi; ja 9f;",
           "cmp $2,%edi; jae 9f;",
           "cmp $1,%edi; jbe 3f; jmp 9f; 3:",
           "cmp $2,%edi; jb 3f; jmp 9f; 3:",
           "cmp $1,%dil; ja 9f; movzbl %dil,%edi;",
           "cmp $1,%di; ja 9f; movzwl %di,%edi;",
       })
    EXPECT_EQ(targets(dispatch, entries), "ab") << dispatch;
  EXPECT_EQ(targets("cmp $2,%edi; ja 9f;", entries), "abc");
  EXPECT_EQ(targets("cmp $3,%edi; jae 9f;", entries), "abc");
  // These let larger indexes through, so they bound nothing.
  for (const char* dispatch :
       {"cmp $1,%edi; jb 9f;", "cmp $1,%edi; jbe 9f;", "cmp $2,%edi; ja 3f; jmp 9f; 3:"})
    EXPECT_EQ(targets(dispatch, entries), "abc") << dispatch;
}

// clang: the values of a switch that cannot occur lead to the end of the code.
TEST(JumpTable, IsReadOnBehindAnEntryOfTheEnd) {
  const char* const entries = "a-5b, end-5b, end-5b, b-5b, c-5b, 1431655765, a-5b";
  for (const char* dispatch :
       {"", "movzbl %dil,%edi;", "add $0x80,%dil; movzbl %dil,%edi;", "movzbl (%rdi),%edi;",
        "movzwl %di,%edi;", "and $7,%edi;", "cmp $4,%edi; ja 9f;", "cmp $5,%edi; jae 9f;"})
    EXPECT_EQ(targets(dispatch, entries), "abc") << dispatch;
}

// A byte's table has 256 entries at most, and whatever lies among them may be one.
TEST(JumpTable, OfAByteIsReadToItsEnd) {
  const char* const entries = "a-5b, 1431655765, b-5b; .fill 253,4,0x55555555; .long c-5b";
  EXPECT_EQ(targets("movzbl %dil,%edi;", entries), "ab");
  EXPECT_EQ(targets("add $1,%dil; movzbl %dil,%edi;", entries), "ab");
  EXPECT_EQ(targets("", entries), "a");
}

}  // namespace
}  // namespace dj::arch
