// SPDX-License-Identifier: Apache-2.0
// Jumps that share bytes with others and with int3: written into one image, each leads where its
// detour is.
#include <gtest/gtest.h>

#include <map>

#include "arch/x86_64/decode.h"
#include "arch/x86_64/placement.h"
#include "arch/x86_64/test_victim.h"

namespace dj::arch {
namespace {

constexpr uint64_t kBase = 0x10001000;

struct Case {
  const char* name;
  std::vector<const char*> functions;  // back to back
  bool independent = true;
  size_t jumps = 99;  // expected, from the highest function down; 99: all
};

class Lean : public testing::TestWithParam<Case> {
 protected:
  Lean() {
    for (const char* source : GetParam().functions) {
      const std::vector<uint8_t> bytes = test::assemble(source);
      const uint64_t begin = kBase + code_.size();
      text_.functions.push_back({begin, begin + bytes.size()});
      code_.insert(code_.end(), bytes.begin(), bytes.end());
      regions_.emplace_back();
      regions_.back().address = begin;
      text_.address_taken.push_back(begin);
    }
    text_.position_independent = GetParam().independent;
    text_.image_begin = kBase;
    text_.image_end = kBase + 0x1000;
    text_.text.push_back({kBase, code_});
  }

  // Puts all jumps into `image`; where each should lead. Notes where each detour goes on.
  std::map<uint64_t, uint64_t> write(std::vector<uint8_t>& image) {
    std::map<uint64_t, uint64_t> targets;
    behind_.clear();
    for (const Region& region : regions_) {
      if (region.verdict != Verdict::Ok) {
        image[region.address - kBase] = 0xcc;
        continue;
      }
      const auto form = best(region, space_of(text_));
      EXPECT_TRUE(form) << region.address;
      if (!form) continue;
      const uint64_t target = *reachable(*form, space_of(text_));
      targets[region.address] = target;
      const JumpBytes bytes = jump_bytes(region, *form, target);
      std::copy(bytes.begin(), bytes.end(), image.begin() + long(region.address - kBase));
      const uint64_t written = region.overlap != 0 ? region.overlap : form->prefix + 5;
      behind_[region.address] = {region.address + form->length, region.address + written};
    }
    return targets;
  }

  std::vector<uint8_t> code_;
  ModuleText text_;
  std::vector<Region> regions_;
  std::map<uint64_t, FunctionRange> behind_;  // by site: from its RA to the end of what is written
};

TEST_P(Lean, EachJumpLeadsToItsDetour) {
  const size_t count = regions_.size(), expected = std::min(GetParam().jumps, count);
  for (const bool backwards : {false, true}) {
    std::vector<Region> asked = regions_;
    if (backwards) std::reverse(asked.begin(), asked.end());
    Checker(text_).check(asked, Guards::WhereNeeded, Neighbours::Lean);
    regions_ = std::move(asked);
    std::vector<uint8_t> image = code_;
    const auto targets = write(image);
    EXPECT_EQ(targets.size(), expected) << backwards;
    for (const auto& [address, target] : targets) {
      Insn insn;
      const std::span<const uint8_t> bytes = image;
      ASSERT_TRUE(decode(bytes.subspan(address - kBase), address, insn));
      EXPECT_EQ(insn.kind, Kind::Jump) << address;
      EXPECT_EQ(insn.target, target) << address;
      // The detour goes on in the program, not in the middle of its own jump.
      const FunctionRange behind = behind_[address];
      for (uint64_t at = behind.begin; at < behind.end; at++)
        EXPECT_EQ(image[at - kBase], code_[at - kBase]) << address << " at " << at;
    }
    for (Region& region : regions_) region = {.address = region.address};
    if (backwards) std::reverse(regions_.begin(), regions_.end());
  }
}

// Nothing but an int3 can be there.
constexpr const char* kTrap = "1: jmp 1b+1";
constexpr const char* kLong = "mov $1,%ebx; mov %rdi,%rax; sub $64,%rsp; ret; .skip 8,0xcc";

const Case kCases[] = {
    {"one", {"ret", kLong}},
    {"two", {"push %rbx; ret", kLong}},
    {"three", {"xor %eax,%eax; ret", kLong}},
    {"four", {"mov %rdi,%rax; ret", kLong}},
    {"fixed_one", {"ret", kLong}, false},
    {"fixed_two", {"push %rbx; ret", kLong}, false},
    {"fixed_three", {"xor %eax,%eax; ret", kLong}, false},
    {"fixed_four", {"mov %rdi,%rax; ret", kLong}, false},
    {"push_first", {"mov %rdi,%rax; ret", "push %rbx; mov $7,%eax; nop; pop %rbx; ret"}, false},
    {"chain", {"ret", "xor %eax,%eax; ret", "mov %edi,%eax; ret", kLong}},
    {"fixed_chain_three_one", {"xor %eax,%eax; ret", "ret", kLong}, false},
    // Alone, each below the last one reaches nothing: not asked about then.
    {"fixed_hopeless", {"push %rbx; ret", "push %rcx; ret", kLong}, false, 2},
    // Somebody arrives inside the upper jump: what is left there stays, or only one is a jump.
    {"loop_above", {"xor %eax,%eax; ret", "1: nop; nop; dec %ecx; jne 1b+1; ret; .skip 8,0xcc"}},
    // Two bytes before the arrival, of which one is no place to go on: the jump begins there.
    {"one_byte_above",
     {"mov %rdi,%rax; nop", "1: pop %rbx; ret; 2: mov %r11,(%r8); jne 2b; jmp 1b"},
     false},
    // An int3 above: its bytes are part of the displacement.
    {"trap_one", {"ret", kTrap, kLong}, true, 2},
    {"trap_two", {"push %rbx; ret", kTrap, kLong}, true, 2},
    {"trap_four", {"mov %rdi,%rax; ret", kTrap, kLong}, true, 2},
    {"trap_below_jumps", {"ret", "ret", "push %rbx; ret", kTrap, "ret", kLong}, true, 5},
    {"two_traps", {"ret", kTrap, kTrap, kLong}, true, 2},
    {"fixed_trap_one", {"ret", kTrap, kLong}, false, 2},
    // As top byte it leads to nothing below a low address: a prefix brings what is behind it there.
    {"fixed_trap_four", {"mov %rdi,%rax; ret", "1: lea 16(%rax),%ecx; jmp 1b+2", kLong}, false, 2},
    // The jump in the middle begins with a prefix, though it leans itself.
    {"fixed_chain_four", {"mov %rdi,%rax; ret", "push %rbx; push %rcx; ret", kLong}, false},
};
INSTANTIATE_TEST_SUITE_P(Table, Lean, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace dj::arch
