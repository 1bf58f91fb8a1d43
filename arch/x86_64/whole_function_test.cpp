// SPDX-License-Identifier: Apache-2.0
// Which functions go into their detours whole, and that they then do what they did.
#include "arch/x86_64/whole_function.h"

#include <gtest/gtest.h>

#include "arch/x86_64/decode.h"
#include "arch/x86_64/detour.h"
#include "arch/x86_64/test_machine.h"
#include "arch/x86_64/test_victim.h"

namespace dj::arch {
namespace {

constexpr uint64_t kFunction = 0x10010000, kDetour = 0x10020000;

// What whole_function() says of it; a jump at the entry displaces the instructions of five bytes.
uint32_t whole(const std::string& source) {
  const std::vector<uint8_t> bytes = test::assemble(source.c_str());
  uint32_t displaced = 0;
  for (Insn insn; displaced < 5; displaced += insn.length) {
    EXPECT_TRUE(decode(std::span(bytes).subspan(displaced), kFunction + displaced, insn));
  }
  return whole_function(bytes, kFunction, displaced);
}

uint32_t bytes_of(const char* source) { return uint32_t(test::assemble(source).size()); }

TEST(Whole, GoesUpToTheFirstReturn) {
  constexpr const char* kGetter = "endbr64; mov 8(%rdi),%rax; add $1,%rax; ret";
  EXPECT_EQ(whole(kGetter), bytes_of(kGetter));
  EXPECT_EQ(whole(std::string(kGetter) + "; ud2"), bytes_of(kGetter));
  constexpr const char* kBranches =
      "test %edi,%edi; mov %rsi,%rax; je . + 20; mov (%rdi),%rax; ret";
  EXPECT_EQ(whole(std::string(kBranches) + "; ud2"), bytes_of(kBranches));
  EXPECT_EQ(whole("mov %rdi,%rax; nop; nop; lea 0x100(%rip),%rcx; ret $8"), 15u);
}

TEST(Whole, IsNoneThatIsDisplacedAnyway) {
  EXPECT_EQ(whole("mov $7,%eax; ret"), 6u);  // the return is behind the five bytes
  EXPECT_EQ(whole("mov %edi,%eax; add %esi,%eax; ret"), 0u);
}

TEST(Whole, IsNoneThatGoesElsewhere) {
  for (const char* source :
       {"mov $7,%eax; call . + 100; ret", "mov $7,%eax; jmp . + 100; ret", "mov $7,%eax; jmp *%rax",
        "mov $7,%eax; call *%rax; ret", "mov $7,%eax; syscall; ret", "mov $7,%eax; int3; ret",
        "mov $7,%eax; ud2; ret", "mov $7,%eax; loop . - 2; ret", "mov $7,%eax; int $0x80; ret",
        "mov $7,%eax; .byte 0x06; ret", "mov $7,%eax; mov 100(%eip),%eax; ret", "call . + 100; ret",
        "jmp . + 100; nop; nop; nop; ret"}) {
    EXPECT_EQ(whole(source), 0u) << source;
  }
}

TEST(Whole, IsNoneThatIsLong) {
  const auto source = [](uint32_t nops) {
    return "mov $7,%eax; .fill " + std::to_string(nops) + ", 1, 0x90; ret";
  };
  EXPECT_EQ(whole(source(kWholeMost - 6)), kWholeMost);
  EXPECT_EQ(whole(source(kWholeMost - 5)), 0u);
  EXPECT_EQ(whole("mov $7,%eax"), 0u);  // the text ends
}

// A function with branches to a place behind its return and back to a loop within.
struct WholeRun : testing::Test {
  static constexpr const char* kSource =
      "mov %rdi,%rax; xor %ecx,%ecx; 1: add %rsi,%rax; inc %ecx; cmp $3,%ecx; jl 1b;"
      "cmp $100,%rax; jg 2f; ret; 2: mov $100,%eax; ret";
  WholeRun() : function(4096, kFunction), detour(4096, kDetour), bytes(test::assemble(kSource)) {
    function.put(kFunction, bytes);
    const uint32_t whole = whole_function(bytes, kFunction, 5);
    EXPECT_EQ(whole, bytes.size() - 6);
    DetourRequest request;
    request.region = std::span(bytes).first(whole);
    request.original = kFunction;
    request.rest = whole - 5;
    auto built = build_detour(request, kDetour);
    EXPECT_TRUE(built.ok());
    if (!built.ok()) return;
    EXPECT_LE(built.value().bytes.size(), detour_bytes_max(request));
    EXPECT_EQ(built.value().end, whole);
    detour.put(kDetour, built.value().bytes);
  }
  test::Memory function, detour;
  std::vector<uint8_t> bytes;
};

TEST_F(WholeRun, DoesWhatItDid) {
  const auto there = reinterpret_cast<long (*)(long, long)>(kFunction);
  const auto here = reinterpret_cast<long (*)(long, long)>(kDetour);
  for (const long first : {-5L, 0L, 99L, 1000L}) {
    for (const long second : {-7L, 0L, 40L}) EXPECT_EQ(here(first, second), there(first, second));
  }
}

}  // namespace
}  // namespace dj::arch
