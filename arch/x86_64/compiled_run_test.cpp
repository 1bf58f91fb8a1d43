// SPDX-License-Identifier: Apache-2.0
// Switches as compilers write them: every instruction is probed alone, in every form that the
// checks allow, and executed with every case; the results must be those of the bare code. A jump
// table that the checks did not see would be a jump into the middle of a jump.
#include <gtest/gtest.h>

#include "arch/x86_64/module.h"
#include "arch/x86_64/test_patched.h"
#include "arch/x86_64/test_victim.h"

namespace dj::arch {
namespace {

using test::State;

constexpr uint64_t kText = 0x60000000, kBack = kText + 0x6000, kStack = kText + 0x7000;
constexpr size_t kBytes = 0x8000;
constexpr int kInputs = 10;  // 0 to 7 are cases

constexpr const char* kSource = R"(
__attribute__((noinline, cold)) long rare(long* at, long n) { *at += n; return n; }
__attribute__((noinline)) long pick(int what, long n, long* at) {
  long m = n;
  switch (what) {
    case 0: m += 3; break;
    case 1: m *= 5; __attribute__((fallthrough));
    case 2: m++; __attribute__((fallthrough));
    case 3: *at = m; break;
    case 4: m = rare(at, n); __asm__ volatile("inc %0" : "+r"(m)); __attribute__((fallthrough));
    case 5: m += rare(at, n + 1); break;
    case 6: m--; __attribute__((fallthrough));
    case 7: m ^= n << 3; break;
    default: return -m;
  }
  return m + *at;
}
)";

class Switch : public testing::TestWithParam<const char*> {
 protected:
  Switch() : memory_(kBytes, kText), victim_(build()) {
    for (const auto* ranges : {&victim_.text.text, &victim_.text.rodata}) {
      for (const TextRange& range : *ranges) {
        if (range.address - kText < kBytes)  // notes lie elsewhere
          memory_.put(range.address, {range.bytes.begin(), range.bytes.end()});
      }
    }
    memory_.put_exit(kBack);
  }

  static test::Victim build() {
    test::TempDir dir;
    std::ofstream(dir / "v.c") << kSource;
    test::TempDir::run(std::string(GetParam()) + " -ffreestanding -fno-stack-protector" +
                       " -fno-asynchronous-unwind-tables -c -o " + (dir / "v.o") + " " +
                       (dir / "v.c"));
    test::TempDir::run("ld -e 0 --no-warnings -Ttext=0x60001000 -o " + (dir / "v") + " " +
                       (dir / "v.o"));
    test::Victim victim = test::read_elf(dir / "v");
    victim.text.image_begin = kText;
    victim.text.image_end = kText + kBytes;
    return victim;
  }

  std::vector<State> run_all() {
    std::vector<State> out;
    for (uint64_t what = 0; what < kInputs; what++) {
      State in;
      in.regs[7] = what, in.regs[6] = 1000 + what, in.regs[2] = kStack + 0x100, in.regs[4] = kStack;
      memset(memory_.at(kStack - 0x200), 0, 0x400);
      memcpy(memory_.at(kStack), &kBack, 8);
      out.push_back(test::run(victim_.symbols.at("pick"), in));
    }
    return out;
  }

  std::vector<Region> all_instructions() const {
    std::vector<Region> regions;
    size_t by_table = 0;
    const Module module(victim_.text);
    for (const FunctionRange& range : module.outermost()) {
      for (const Insn& insn : module.decode(range).insns) {
        regions.push_back({.address = insn.address});
        by_table += insn.kind == Kind::JumpIndirect;
      }
    }
    EXPECT_EQ(by_table, 1u);
    return regions;
  }

  test::Memory memory_;
  test::Victim victim_;
  test::GuardTraps traps_;
};

TEST_P(Switch, RunsTheSameWithAnyInstructionProbed) {
  const std::vector<State> bare = run_all();
  size_t forms = 0;
  for (const Guards guards : {Guards::None, Guards::WhereNeeded, Guards::Everywhere}) {
    std::vector<Region> regions = all_instructions();
    ASSERT_GT(regions.size(), 30u);
    Checker(victim_.text).check_alone(regions, guards);
    for (const Region& region : regions) {
      for (const Placement& form : placements(region)) {
        const auto target = reachable(form, space_of(victim_.text));
        if (!target) continue;
        const test::Patched patched(memory_, region, form, *target);
        EXPECT_EQ(run_all(), bare) << std::hex << region.address << tactic_name(form.tactic);
        forms++;
      }
    }
  }
  EXPECT_GT(forms, 100u);
}

// The compilers' tables: relative, absolute; with and without landing marks; one-case-a-block too.
INSTANTIATE_TEST_SUITE_P(
    Compilers, Switch,
    testing::Values("gcc -O2 -fPIC", "gcc -O2 -fno-pic", "gcc -O2 -fPIC -fcf-protection=full",
                    "gcc -O2 -fno-pic -fcf-protection=full", "gcc -O1 -fPIC", "gcc -Os -fPIC",
                    "clang-19 -O2 -fPIC", "clang-19 -O2 -fno-pic",
                    "clang-19 -O2 -fPIC -fcf-protection=full", "clang-19 -O1 -fno-pic"),
    [](const auto& info) {
      std::string name = info.param;
      std::erase_if(name, [](char c) { return c == '-' || c == ' ' || c == '='; });
      return name;
    });

}  // namespace
}  // namespace dj::arch
