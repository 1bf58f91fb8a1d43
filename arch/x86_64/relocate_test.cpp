// SPDX-License-Identifier: Apache-2.0
// relocate(): a table of instructions with binutils as the judge of both sides.
#include <gtest/gtest.h>

#include "arch/x86_64/decode.h"
#include "arch/x86_64/detour.h"
#include "arch/x86_64/test_victim.h"

namespace dj::arch {
namespace {

constexpr uint64_t kFrom = 0x500000, kTo = 0x700000;

struct Case {
  const char* name;
  const char* original;   // @ stands for the target
  const char* relocated;  // the same for the other place; empty: refused
};

constexpr uint64_t kTarget = 0x500040;

// The bytes of source as they are at address `here`, with kTarget for each @.
std::vector<uint8_t> assembled_at(uint64_t here, std::string source) {
  const std::string target = "(here + " + std::to_string(int64_t(kTarget - here)) + ")";
  for (size_t p; (p = source.find('@')) != std::string::npos;) source.replace(p, 1, target);
  return test::assemble("here: " + source);
}

class Relocate : public testing::TestWithParam<Case> {};

TEST_P(Relocate, GivesWhatTheAssemblerGives) {
  const auto original = assembled_at(kFrom, GetParam().original);
  const auto result = relocate(original, kFrom, kTo);
  if (GetParam().relocated[0] == 0) {
    ASSERT_FALSE(result.ok());
    EXPECT_NE(result.error().message.find("cannot run elsewhere"), std::string::npos);
    return;
  }
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result.value(), assembled_at(kTo, GetParam().relocated));
}

// The return address that a relocated call pushes: 0x500000 + the call's length.
#define PUSH_RA(length) "lea -8(%rsp),%rsp; movl $(0x500000+" #length "),(%rsp); movl $0,4(%rsp);"

// The same of one whose target is pushed already.
#define RETURN_TO_PUSHED(length)                                    \
  "lea -0x80(%rsp),%rsp; push 0x80(%rsp); movl $(0x500000+" #length \
  "),0x88(%rsp); movl $0,0x8c(%rsp); ret $0x80"

const Case kCases[] = {
    {"plain", "mov %rdi,%rbx", "mov %rdi,%rbx"},
    {"endbr", "endbr64", "endbr64"},
    {"lea", "lea @(%rip),%rax", "lea @(%rip),%rax"},
    {"disp_before_imm", "cmpl $0x12345678,@(%rip)", "cmpl $0x12345678,@(%rip)"},
    {"push_rip", "push @(%rip)", "push @(%rip)"},
    {"jump_rip", "jmp *@(%rip)", "jmp *@(%rip)"},
    {"vex_rip", "vmovdqu @(%rip),%ymm3", "vmovdqu @(%rip),%ymm3"},
    {"evex_rip", "vmovdqu64 @(%rip),%zmm3", "vmovdqu64 @(%rip),%zmm3"},
    {"jcc_short", "jne @", "jne @"},
    {"jump_short", "jmp @", "jmp @"},
    {"loop", "loop @", "loop 1f; jmp 2f; 1: jmp @; 2:"},
    {"jrcxz", "jrcxz @", "jrcxz 1f; jmp 2f; 1: jmp @; 2:"},
    {"jecxz", "jecxz @", "jecxz 1f; jmp 2f; 1: jmp @; 2:"},
    {"call", "call @", PUSH_RA(5) "jmp @"},
    {"call_reg", "call *%rax", PUSH_RA(2) "jmp *%rax"},
    {"call_r11", "call *%r11", PUSH_RA(3) "jmp *%r11"},
    {"call_rip", "call *@(%rip)", PUSH_RA(6) "jmp *@(%rip)"},
    {"call_mem", "call *0x18(%rax,%rbx,8)", PUSH_RA(4) "jmp *0x18(%rax,%rbx,8)"},
    {"call_rsp", "call *0x100(%rsp)", PUSH_RA(7) "jmp *0x108(%rsp)"},
    {"call_fs", "call *%fs:0x28", PUSH_RA(8) "jmp *%fs:0x28"},
    {"call_below_rsp", "call *-8(%rsp)", "push -8(%rsp);" RETURN_TO_PUSHED(4)},
    {"call_far_below_rsp", "call *-256(%rsp)", "pushq -256(%rsp);" RETURN_TO_PUSHED(7)},
    {"call_indexed_rsp", "call *-8(%rsp,%r9,8)", "push -8(%rsp,%r9,8);" RETURN_TO_PUSHED(5)},
    {"call_through_rsp", "call *%rsp", ".byte 0xff,0xf4;" RETURN_TO_PUSHED(2)},
    {"xbegin", "xbegin @", ""},
    {"far_jump", "ljmp *(%rax)", ""},
    {"syscall", "syscall", "syscall"},
    {"int", "int $0x80", "int $0x80"},
    {"debug_register", ".byte 0x0f,0x21,0x1d", ".byte 0x0f,0x21,0x1d"},
    {"far_return", "lretl", ""},
    {"ret", "ret $8", "ret $8"},
    {"data16_ret", ".byte 0x66; ret", ""},
    {"data16_jump", ".byte 0x66; jmp @", ""},
    {"data16_wide_ret", ".byte 0x66; rex.W ret", ".byte 0x66; rex.W ret"},
};
INSTANTIATE_TEST_SUITE_P(Table, Relocate, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(RelocateDistance, FailsBeyondTwoGigabytes) {
  const auto lea = test::assemble("lea 0x10(%rip),%rax");
  EXPECT_FALSE(relocate(lea, 0x1000, 0x1000 + (uint64_t(3) << 30)).ok());
  EXPECT_FALSE(encode_jump(0x1000, 0x1000 + (uint64_t(3) << 30)).ok());
  EXPECT_TRUE(relocate(lea, 0x1000, 0x1000 + (uint64_t(1) << 30)).ok());
}

TEST(RelocateDistance, HighReturnAddressIsPushedWhole) {
  const uint64_t from = 0x7f12'3456'7000;
  const auto call = test::assemble("call *%rax");
  const auto bytes = relocate(call, from, from + 0x1000);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(bytes.value(), test::assemble("lea -8(%rsp),%rsp; movl $0x34567002,(%rsp);"
                                          "movl $0x7f12,4(%rsp); jmp *%rax"));
}

}  // namespace
}  // namespace dj::arch
