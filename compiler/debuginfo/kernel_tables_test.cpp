// SPDX-License-Identifier: Apache-2.0
// A kernel's tables, in a small file that binutils have made.
#include "compiler/debuginfo/kernel_tables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "compiler/debuginfo/text.h"
#include "compiler/debuginfo/victim_support.h"

namespace dj {
namespace {

constexpr const char* kSource = R"(
.text
.globl first, faulty, handler
.type first,@function
first:
  .byte 0x0f, 0x1f, 0x44, 0, 0
key5: .byte 0x0f, 0x1f, 0x44, 0, 0
key2: xchg %ax,%ax
key_on: jmp away
called: call handler
tail: .byte 0xe9, 0, 0, 0, 0
maybe: .byte 0x0f, 0x84, 0, 0, 0, 0
warned: ud2
away: ret
.size first, . - first
.type faulty,@function
faulty:
access: mov (%rdi),%rax
other: mov (%rsi),%rax
caught: ret
.size faulty, . - faulty
.type first.cold,@function
first.cold:
  jmp away
.size first.cold, . - first.cold
.type handler,@function
handler:
  xor %eax,%eax
elsewhere: ret
.size handler, . - handler
.section __ex_table,"a"
  .long access - ., caught - ., 3
  .long other - ., elsewhere - ., 3
.section __jump_table,"aw"
  .long key5 - ., away - .
  .quad 0
  .long key2 - ., away - .
  .quad 0
  .long key_on - ., away - .
  .quad 0
  .long nowhere - ., away - .
  .quad 0
.section .static_call_sites,"aw"
  .long called - ., 1
  .long tail - ., 1
  .long maybe - ., 1
.section __bug_table,"aw"
  .long warned - ., 0, 0
.data
nowhere: .quad 0
.macro outside name, address
.globl \name
.type \name,@function
.set \name, \address
.endm
outside printk, 0xffffffff82000000
outside kfree, 0xffffffff82000100
outside __x86_indirect_thunk_rdx, 0xffffffff82001000
outside __x86_indirect_thunk_array, 0xffffffff82002000
outside srso_return_thunk, 0xffffffff82003000
)";

struct Linked {
  Folder folder;
  arch::ModuleText text;
  std::map<std::string, uint64_t> symbols;

  explicit Linked(const char* address) {
    const std::string source = folder.file("k.s", kSource), out = folder.path + "/k";
    const std::string command = "as -o " + out + ".o " + source + " && ld -e 0 -Ttext=" + address +
                                " -z noseparate-code -o " + out + " " + out + ".o";
    if (::system(command.c_str()) != 0) ADD_FAILURE() << command;
    forget_target_files();
    std::istringstream lines(output_of("nm " + out));
    std::string at, type, name;
    while (lines >> at >> type >> name) symbols[name] = std::stoull(at, nullptr, 16);
    Result<arch::ModuleText> read = read_text(out);
    if (read.ok()) text = read.take();
  }
  bool is_pad(const std::string& name) const {
    return std::ranges::count(text.landing_pads, symbols.at(name)) == 1;
  }
};

TEST(KernelTables, NameTheInstructionsThatStay) {
  const Linked kernel("0xffffffff81000000");
  const std::pair<const char*, uint64_t> expected[] = {{"key5", 5},   {"key2", 2},   {"key_on", 2},
                                                       {"called", 5}, {"tail", 5},   {"maybe", 6},
                                                       {"warned", 2}, {"access", 1}, {"other", 1}};
  ASSERT_FALSE(kernel.text.fixed.empty());
  for (const auto& [name, bytes] : expected) {
    const uint64_t begin = kernel.symbols.at(name);
    for (uint64_t at = begin; at < begin + bytes; at++) {
      EXPECT_TRUE(std::ranges::any_of(kernel.text.fixed, [&](const arch::FunctionRange& r) {
        return at >= r.begin && at < r.end;
      })) << name;
    }
  }
  uint64_t sum = 0, end = 0;
  for (const arch::FunctionRange& r : kernel.text.fixed) {
    EXPECT_GE(r.begin, end);
    sum += r.end - r.begin;
    end = r.end;
  }
  EXPECT_EQ(sum, 29u);  // those of `expected`, no others
}

TEST(KernelTables, SayWhereControlGoesByItself) {
  const Linked kernel("0xffffffff81000000");
  EXPECT_TRUE(kernel.is_pad("away"));
  EXPECT_TRUE(kernel.is_pad("caught"));
  EXPECT_TRUE(kernel.is_pad("elsewhere"));
  EXPECT_EQ(kernel.text.landing_pads.size(), 3u);
  const std::pair<uint64_t, uint64_t> far{kernel.symbols.at("faulty"),
                                          kernel.symbols.at("elsewhere")};
  EXPECT_EQ(kernel.text.far_pads, std::vector{far});
}

TEST(KernelTables, EveryFunctionMayBeEnteredButNoPart) {
  const Linked kernel("0xffffffff81000000");
  const auto is_taken = [&](const char* name) {
    return std::ranges::binary_search(kernel.text.address_taken, kernel.symbols.at(name));
  };
  EXPECT_TRUE(is_taken("first"));
  EXPECT_TRUE(is_taken("faulty"));
  EXPECT_FALSE(is_taken("first.cold"));
}

// A module jumps to the kernel without a linkage table.
TEST(KernelTables, FunctionsOfNoSectionAreOthers) {
  const arch::ModuleText text = Linked("0xffffffff81000000").text;
  const std::vector<uint64_t> functions = {0xffffffff82000000, 0xffffffff82000100,
                                           0xffffffff82002000};
  EXPECT_EQ(text.functions_outside, functions);
  const std::pair<uint64_t, uint8_t> rdx = {0xffffffff82001000, 2};
  EXPECT_EQ(text.thunks_outside, std::vector{rdx});
  EXPECT_EQ(text.return_thunks, std::vector<uint64_t>{0xffffffff82003000});
  const arch::ModuleText program = Linked("0x401000").text;
  EXPECT_TRUE(program.functions_outside.empty());
  EXPECT_TRUE(program.thunks_outside.empty());
  EXPECT_TRUE(program.return_thunks.empty());
}

TEST(KernelTables, ReturnThunksAreKnownByTheirNames) {
  for (const char* name : {"__x86_return_thunk", "srso_return_thunk", "srso_alias_return_thunk",
                           "retbleed_return_thunk", "its_return_thunk"})
    EXPECT_TRUE(is_return_thunk(name)) << name;
  for (const char* name : {"return_thunk_of", "x86_return", "srso_safe_ret"})
    EXPECT_FALSE(is_return_thunk(name)) << name;
}

TEST(KernelTables, DetoursLieWhereModulesAre) {
  const Linked kernel("0xffffffff81000000");
  ASSERT_TRUE(kernel.text.code_space.has_value());
  EXPECT_EQ(kernel.text.code_space->low, 0xffffffffc0000000);
  EXPECT_EQ(kernel.text.code_space->high, 0xffffffffff000000);
}

TEST(KernelTables, SectionsOfAProgramAreNoTables) {
  const Linked program("0x401000");
  EXPECT_FALSE(program.text.text.empty());
  EXPECT_TRUE(program.text.fixed.empty());
  EXPECT_TRUE(program.text.landing_pads.empty());
  EXPECT_FALSE(program.text.code_space.has_value());
}

}  // namespace
}  // namespace dj
