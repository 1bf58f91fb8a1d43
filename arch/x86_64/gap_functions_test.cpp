// SPDX-License-Identifier: Apache-2.0
// Gap functions: where they begin, and what of them can be hooked.
#include "arch/x86_64/gap_functions.h"

#include <gtest/gtest.h>

#include "arch/x86_64/test_victim.h"

namespace dj::arch {
namespace {

std::map<std::string, Checker::Syscall> syscalls_of(const test::Victim& v) {
  Checker checker(v.text);
  std::map<std::string, Checker::Syscall> found;
  for (const Checker::Syscall& call : checker.syscalls()) {
    for (const auto& [name, address] : v.symbols) {
      if (address == call.syscall_address) found[name] = call;
    }
  }
  return found;
}

// A known function that calls `called` and keeps the address of `kept`, and code of nobody.
test::Victim victim(const std::string& gap) {
  return test::link_victim(std::string(test::kFunctions) +
                           "func known; call called; lea kept(%rip),%rax; ret; done known; nop;" +
                           gap + "; func last; ret; done last");
}

TEST(GapFunctions, BeginWhereCodeIsCalledOrKept) {
  const test::Victim v = victim(
      "nop; called: mov $14,%eax; one: syscall; ret; nop; nop;"
      "kept: mov $13,%eax; two: syscall; ret; nop");
  const Module module(v.text);
  const auto* first = module.function_at(v.symbols.at("one"));
  const auto* second = module.function_at(v.symbols.at("two"));
  ASSERT_TRUE(first != nullptr && second != nullptr);
  EXPECT_EQ(first->begin, v.symbols.at("called"));
  EXPECT_EQ(first->end, second->begin);
  EXPECT_EQ(second->begin, v.symbols.at("kept"));
  EXPECT_EQ(second->end, v.symbols.at("last"));
  const auto calls = syscalls_of(v);
  EXPECT_EQ(calls.at("one").number, 14);
  EXPECT_EQ(calls.at("two").number, 13);
  for (const auto& [name, call] : calls) EXPECT_EQ(call.region.verdict, Verdict::Ok) << name;
}

TEST(GapFunctions, AreOneWhereAJumpCrosses) {
  const test::Victim v = victim(
      "called: mov $14,%eax; one: syscall; jne 1f; ret;"
      "kept: mov $13,%eax; two: syscall; 1: ret");
  const Module module(v.text);
  EXPECT_EQ(module.function_at(v.symbols.at("one")), module.function_at(v.symbols.at("two")));
}

TEST(GapFunctions, EndWithTailCalls) {
  const test::Victim v = victim(
      "called: mov $14,%eax; one: syscall; jmp kept; nop;"
      "kept: mov $13,%eax; two: syscall; ret");
  const Module module(v.text);
  EXPECT_NE(module.function_at(v.symbols.at("one")), module.function_at(v.symbols.at("two")));
}

TEST(GapFunctions, AnUnknownJumpConcernsItsOwnFunction) {
  const test::Victim v = victim(
      "called: mov $14,%eax; one: syscall; nop; nop; nop; add $3,%rsi; jmp *%rsi;"
      "kept: mov $13,%eax; two: syscall; ret; nop");
  const auto calls = syscalls_of(v);
  EXPECT_EQ(calls.at("two").region.verdict, Verdict::Ok);
}

TEST(GapFunctions, ArrivalsInTheJumpAreSeen) {
  const test::Victim v = victim(
      "called: test %edi,%edi; je 1f; mov $1,%esi; 1: mov $14,%eax; 2: xor %edx,%edx; one: syscall;"
      "2: dec %eax; jne 2b; jmp one; kept: ret");
  const auto calls = syscalls_of(v);
  EXPECT_NE(calls.at("one").region.address, v.symbols.at("called"));
  EXPECT_GE(calls.at("one").region.address, v.symbols.at("one") - 2);
}

TEST(GapFunctions, DataWithBytesOfACallIsNone) {
  const test::Victim v = victim("called: ret; kept: .byte 0x48,0xb8,0x0f,0x05,0,0,0,0,0,0; ret");
  EXPECT_TRUE(syscalls_of(v).empty());
  const Module module(v.text);
  ASSERT_NE(module.function_at(v.symbols.at("kept")), nullptr);
}

TEST(GapFunctions, WithoutASystemCallThereAreNone) {
  const test::Victim v = victim("called: mov $14,%eax; ret; kept: ret");
  const Module module(v.text);
  EXPECT_EQ(module.function_at(v.symbols.at("called")), nullptr);
}

}  // namespace
}  // namespace dj::arch
