// SPDX-License-Identifier: Apache-2.0
// Which jumps to an instruction can be led elsewhere, and what stands there then.
#include "arch/x86_64/incoming_jumps.h"

#include <gtest/gtest.h>

#include "arch/x86_64/decode.h"
#include "arch/x86_64/test_victim.h"

namespace dj::arch {
namespace {

const char kSource[] = R"(
.globl target, inside, near, condition, padded, tight, entered, hidden, bound
.type target,@function
.type near,@function
.type condition,@function
.type padded,@function
.type tight,@function
.type entered,@function
.type hidden,@function
.type bound,@function
.text
target:    mov %rdi, %rax
inside:    add $1, %rax
           ret
           .size target, . - target
near:      .byte 0xe9
           .long inside - . - 4
           .size near, . - near
condition: .byte 0x0f, 0x84
           .long inside - . - 4
           ret
           .size condition, . - condition
padded:    jmp inside
           .size padded, . - padded
           .balign 16, 0xcc
tight:     jmp inside
           .size tight, . - tight
entered:   jmp inside
1:         nop; nop; nop; nop
           jmp 1b
           .size entered, . - entered
hidden:    .byte 0x48, 0xb8, 0xe9
           .long inside - . - 4
           .byte 0, 0, 0
           ret
           .size hidden, . - hidden
bound:     bnd
           .byte 0xe9
           .long inside - . - 4
           .size bound, . - bound
           .balign 16, 0xcc
)";

class IncomingJumps : public ::testing::Test {
 protected:
  IncomingJumps() : victim_(test::link_victim(kSource)) {}
  uint64_t at(const char* name) const { return victim_.symbols.at(name); }
  std::vector<IncomingJump> found() const { return incoming_jumps(victim_.text, {at("inside")}); }

  test::Victim victim_;
};

// A jump is left out if it has no room, if somebody goes to the bytes behind it, if it is a part of
// another instruction, or if it has a prefix.
TEST_F(IncomingJumps, AreThoseWithRoom) {
  std::vector<std::pair<uint64_t, int>> places;
  for (const IncomingJump& jump : found()) {
    EXPECT_EQ(jump.target, at("inside"));
    places.emplace_back(jump.address, jump.length);
  }
  EXPECT_EQ(places, (std::vector<std::pair<uint64_t, int>>{
                        {at("near"), 5}, {at("condition"), 6}, {at("padded"), 5}}));
}

TEST_F(IncomingJumps, NobodyArrivesAtAnotherInstruction) {
  EXPECT_TRUE(incoming_jumps(victim_.text, {at("target") + 1}).empty());
  EXPECT_TRUE(incoming_jumps(victim_.text, {}).empty());
}

TEST_F(IncomingJumps, LeadElsewhere) {
  ASSERT_FALSE(found().empty());
  for (const IncomingJump& jump : found()) {
    const auto original = bytes_at(victim_.text.text, jump.address).first(jump.length);
    const uint64_t elsewhere = jump.address + 0x7000'0000;
    const auto led = led_elsewhere(original, jump.address, elsewhere);
    ASSERT_TRUE(led);
    EXPECT_EQ(led->size(), jump.length);
    Insn before, after;
    ASSERT_TRUE(decode(original, jump.address, before));
    ASSERT_TRUE(decode(std::span(led->begin(), led->end()), jump.address, after));
    EXPECT_EQ(after.kind, before.kind);
    EXPECT_EQ(after.target, elsewhere);
    if (before.kind == Kind::CondJump) {
      EXPECT_EQ(after.opcode, before.opcode);
    }
    EXPECT_FALSE(led_elsewhere(original, jump.address, jump.address + 0x1'0000'0000));
  }
}

}  // namespace
}  // namespace dj::arch
