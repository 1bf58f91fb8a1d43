// SPDX-License-Identifier: Apache-2.0
// What is decoded of functions that have data between their instructions.
#include "arch/x86_64/module.h"

#include <gtest/gtest.h>

#include "arch/x86_64/safety.h"
#include "arch/x86_64/test_victim.h"

namespace dj::arch {
namespace {

test::Victim victim(const std::string& body) {
  return test::link_victim(".text; .globl f; .type f,@function; f: " + body +
                           "; .size f, . - f; .globl g; .type g,@function; g: ret; .size g, . - g");
}

struct Case {
  std::string body;
  size_t decoded;  // instructions
  bool whole;
};

TEST(Module, DecodesUpToDataBetweenInstructions) {
  const Case cases[] = {
      // The signature of a restartable sequence's abort handler takes the move's first bytes.
      {"jmp 1f; .long 0x53053053; jmp 2f; 1: mov $1,%eax; ret; 2: xor %eax,%eax; ret", 1, false},
      {"test %edi,%edi; jne 1f; ret; .byte 0x48,0xb8; 1: mov $1,%eax; ret", 3, false},
      // Data that ends where an instruction does harms nobody.
      {"jmp 1f; .byte 0x90; 1: mov $1,%eax; ret", 4, true},
      // Past a prefix: no data.
      {"test %edi,%edi; je 1f; lock; 1: incl (%rsi); ret", 4, true},
      {"jmp 3f; 2: test %edi,%edi; je 1f; lock; 1: incl (%rsi); ret; 3: jmp 2b", 6, true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.body);
    const test::Victim v = victim(c.body);
    const Module module(v.text);
    const FunctionRange* range = module.function_at(v.symbols.at("f"));
    ASSERT_NE(range, nullptr);
    const Function function = module.decode(*range);
    EXPECT_EQ(function.insns.size(), c.decoded);
    EXPECT_EQ(function.whole, c.whole);
  }
}

// Each place in a gap between functions where code may begin is decoded to the gap's end.
TEST(Module, TakesNoMemoryForWhatItDoesNotDecode) {
  constexpr const char* kNoInstruction = "0x06";
  const test::Victim v = victim(std::string("ret; .fill 4000000, 1, ") + kNoInstruction);
  const Module module(v.text);
  const uint64_t begin = v.symbols.at("f");
  const Function function = module.decode({begin, begin + 4'000'000});
  EXPECT_EQ(function.insns.size(), 1u);
  EXPECT_LE(function.insns.capacity(), 4096u);
}

TEST(Module, KnowsTheMiddlesOfInstructions) {
  const test::Victim v = victim("mov $1,%eax; jmp 1f; .long 0x53053053; 1: jmp 2f; 2: ret");
  const Module module(v.text);
  const uint64_t begin = v.symbols.at("f");
  const FunctionRange* range = module.function_at(begin);
  ASSERT_NE(range, nullptr);
  const Function function = module.decode(*range);
  for (uint64_t at = begin; at < range->end; at++) {
    const bool known = at < function.decoded_end() && function.find(at) == Function::kNone;
    EXPECT_EQ(module.may_be_instruction(*range, at), !known) << at - begin;
  }
}

TEST(Module, ExitsBehindDataAreNotKnown) {
  const test::Victim v =
      victim("jmp 1f; .long 0x53053053; jmp 2f; 1: mov $1,%eax; ret; 2: xor %eax,%eax; ret");
  Checker checker(v.text);
  const Exits exits = checker.exits(v.symbols.at("f"), v.symbols.at("f") + v.sizes.at("f"));
  EXPECT_FALSE(exits.complete);
  EXPECT_NE(exits.reason, "");
}

}  // namespace
}  // namespace dj::arch
