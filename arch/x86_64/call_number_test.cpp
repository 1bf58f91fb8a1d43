// SPDX-License-Identifier: Apache-2.0
// System calls of a module: their numbers, and the regions in which they can be hooked.
#include "arch/x86_64/call_number.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "arch/x86_64/safety.h"
#include "arch/x86_64/test_victim.h"

namespace dj::arch {
namespace {

test::Victim victim(const std::string& source) {
  return test::link_victim(test::kFunctions + source);
}

std::vector<int64_t> numbers_in(const std::string& source) {
  const test::Victim v = victim(source);
  Checker checker(v.text);
  std::vector<int64_t> numbers;
  for (const Checker::Syscall& call : checker.syscalls()) numbers.push_back(call.number);
  return numbers;
}

TEST(Syscalls, NumbersAndRegions) {
  const test::Victim v = victim(
      "func a; mov $13,%eax; syscall; ret; done a;"
      "func b; mov %rdi,%rax; mov %rsi,%rdi; syscall; ret; done b;"
      "func c; xor %eax,%eax; mov %rdi,%rsi; syscall; ret; done c;"
      "func d; mov $14,%eax; 1: syscall; cmp $-4096,%rax; ja 1b; ret; done d;"
      "func e; nop; mov $15,%rax; syscall; done e;"
      "func g; mov $0x050f,%eax; ret; done g");
  Checker checker(v.text);
  const auto calls = checker.syscalls();
  ASSERT_EQ(calls.size(), 5u);  // the immediate of g is none
  EXPECT_EQ(calls[0].number, 13);
  EXPECT_EQ(calls[0].region.address, v.symbols.at("a"));
  EXPECT_EQ(calls[0].region.length, 7);
  EXPECT_EQ(calls[0].region.verdict, Verdict::Ok);
  EXPECT_EQ(calls[1].number, -1);
  EXPECT_EQ(calls[1].region.address, v.symbols.at("b") + 3);
  EXPECT_EQ(calls[1].region.verdict, Verdict::Ok);
  EXPECT_EQ(calls[2].number, 0);
  EXPECT_EQ(calls[3].number, -1);  // the loop comes back with another eax
  EXPECT_EQ(calls[3].region.address,
            calls[3].syscall_address);  // so the jump begins at the call itself
  EXPECT_EQ(calls[3].region.verdict, Verdict::Ok);
  EXPECT_EQ(calls[4].number, 15);
  EXPECT_EQ(calls[4].region.verdict, Verdict::Blacklisted);
}

TEST(Syscalls, AByteOfTheNumber) {
  EXPECT_EQ(numbers_in("func a; xor %eax,%eax; mov $56,%al; mov %rdi,%r11; syscall; ret; done a;"
                       "func b; mov $0x100,%eax; mov $56,%al; syscall; ret; done b;"
                       "func c; mov %rdi,%rax; mov $56,%al; syscall; ret; done c"),
            (std::vector<int64_t>{56, 0x138, -1}));
}

// gcc takes the number out of loops, clang shares a `syscall` of two branches.
TEST(Syscalls, NumbersThatComeThroughRegistersAndBranches) {
  EXPECT_EQ(numbers_in("func a; mov $202,%r9d; test %edi,%edi; je 2f; 1: nop; 2: xor %edx,%edx;"
                       "mov %r9d,%eax; syscall; cmp $-11,%eax; je 1b; ret; done a;"
                       "func b; test %edi,%edi; je 1f; mov $60,%eax; jmp 2f; 1: mov $60,%eax;"
                       "2: syscall; ret; done b"),
            (std::vector<int64_t>{202, 60}));
}

TEST(Syscalls, NumbersThatAreNotKnown) {
  const std::vector<int64_t> unknown(5, kUnknownNumber);
  EXPECT_EQ(
      numbers_in(  // one of two; the caller's, the callee's; half a register; 6 or the caller's
          "func a; test %edi,%edi; je 1f; mov $60,%eax; jmp 2f; 1: mov $61,%eax; 2: syscall;"
          "ret; done a;"
          "func b; mov $7,%edx; test %edi,%edi; je 1f; mov %esi,%edx; 1: mov %edx,%eax;"
          "syscall; ret; done b;"
          "func c; mov $7,%edx; call a; mov %edx,%eax; syscall; ret; done c;"
          "func d; xor %eax,%eax; mov $0x123,%ax; syscall; ret; done d;"
          "func e; mov $5,%eax; je 1f; mov $6,%ecx; 1: mov %ecx,%eax; syscall; ret; done e"),
      unknown);
}

// As in glibc's _Fork(): the parent jumps over the child's set_robust_list.
TEST(Syscalls, AJumpBehindTheCall) {
  const uint8_t jumped_over[] = {0x85, 0xff, 0x75, 7, 0xb8, 0x11, 1, 0, 0, 0x0f, 5, 0xc3};
  const auto joined = system_call_in(jumped_over, 0x1000, 0x1009);
  ASSERT_TRUE(joined);
  EXPECT_EQ(joined->number, 0x111);
  EXPECT_TRUE(joined->is_joined);
  const uint8_t straight[] = {0xb8, 0x11, 1, 0, 0, 0x0f, 5, 0xc3};
  EXPECT_FALSE(system_call_in(straight, 0x1000, 0x1005).value().is_joined);
  EXPECT_FALSE(system_call_in(straight, 0x1000, 0x1004));  // a part of the mov
}

}  // namespace
}  // namespace dj::arch
