// SPDX-License-Identifier: Apache-2.0
// Guards in functions with jump tables, in case a table was read wrong.
#include "arch/x86_64/doubts.h"

#include <gtest/gtest.h>

#include "arch/x86_64/safety.h"
#include "arch/x86_64/test_victim.h"

namespace dj::arch {
namespace {

// A frame of 24 bytes: the jump is made below it, and a return stands above it.
const std::string kFramed = R"(
  func f
    push %rbx
    sub $16,%rsp
    cmp $3,%edi
    ja 9f
    lea 5f(%rip),%rdx
    mov %edi,%edi
    movslq (%rdx,%rdi,4),%rax
    add %rdx,%rax
    jmp *%rax
  1: xor %eax,%eax
    xor %edx,%edx
    lone: add $16,%rsp
    pop %rbx
    ret
  flags: mov $2,%ebx
    sete %al
    nop
    xor %edx,%edx
  9: add $16,%rsp
  above: pop %rbx
    nop
    nop
    nop
    ret
  done f
  .section .rodata
  .balign 4
  5: .long 1b-5b, flags-5b, 1b-5b, flags-5b, 1431655765
  .text
)";

Region guarded(const std::string& symbol, uint64_t offset = 0) {
  const test::Victim v = test::link_victim(std::string(test::kFunctions) + kFramed);
  Checker checker(v.text);
  std::vector<Region> regions(1);
  regions[0].address = v.symbols.at(symbol) + offset;
  checker.check(regions, Guards::WhereNeeded);
  return regions[0];
}

TEST(Doubts, WhereTheStackPointerIsThatOfTheJump) {
  const Region region = guarded("lone", uint64_t(-4));
  EXPECT_EQ(region.verdict, Verdict::Ok);
  EXPECT_EQ(region.obstacle, Verdict::JumpTable);
  EXPECT_EQ(region.doubts, 1u << 2 | 1u << 4);
  EXPECT_EQ(region.guards, region.doubts);
}

TEST(Doubts, NotWhereItIsAnotherOne) {
  for (const char* place : {"f", "above"}) {
    EXPECT_EQ(guarded(place).verdict, Verdict::Ok) << place;
    EXPECT_EQ(guarded(place).guards & 0x1e, 0u) << place;  // of the jump's own bytes
  }
}

TEST(Doubts, NotWhereFlagsAreRead) {
  EXPECT_EQ(guarded("flags").doubts, 0u);
  EXPECT_EQ(guarded("flags", 5).doubts & 0x1e, 1u << 3 | 1u << 4);  // nop; xor
}

// What is known to arrive is no doubt.
TEST(Doubts, NotWhereSomebodyIsKnownToArrive) {
  const Region region = guarded("above", uint64_t(-6));  // xor %edx,%edx; 9: add
  EXPECT_EQ(region.guards & 1u << 2, 1u << 2);
  EXPECT_EQ(region.doubts & 1u << 2, 0u);
}

TEST(Doubts, ForbidWhereGuardsCannotBe) {
  const test::Victim v = test::link_victim(std::string(test::kFunctions) + kFramed);
  EXPECT_EQ(test::check_one(v, "lone", uint64_t(-4)).verdict, Verdict::JumpTable);
  EXPECT_EQ(test::check_one(v, "f").verdict, Verdict::Ok);
}

}  // namespace
}  // namespace dj::arch
