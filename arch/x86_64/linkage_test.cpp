// SPDX-License-Identifier: Apache-2.0
// Linkage stubs in each form that linkers write, and calls of them: what is one, and what only
// looks so.
#include "arch/x86_64/linkage.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "arch/x86_64/test_victim.h"

namespace dj::arch {
namespace {

const char kSource[] = R"(
.globl plain_stub, marked_stub, bound_stub, other_stub, user, mixed, split
.type user,@function
.type mixed,@function
.type split,@function
.type plain_stub,@function
.text
plain_stub:  jmp *word1(%rip)
             .balign 16, 0xcc
marked_stub: endbr64
             jmp *word2(%rip)
             .balign 16, 0xcc
bound_stub:  bnd jmp *word3(%rip)
             .balign 16, 0xcc
other_stub:  jmp *data(%rip)
             .balign 16, 0xcc
user:        push %rax
call1:       call plain_stub
inside:      .byte 0x48, 0xb8
fake:        .byte 0xe8
             .long plain_stub - . - 4
             .byte 0, 0, 0
call2:       call marked_stub
             call other_stub
             call user
tail:        .byte 0xe9
             .long bound_stub - . - 4
             .size user, . - user
             .balign 16, 0xcc
mixed:       je 1f
             ret
             .long 0x53053053
1:           nop; nop; nop; nop
behind:      call plain_stub
             .size mixed, . - mixed
             .balign 16, 0xcc
nobody:      call plain_stub
             .org plain_stub + 0x1ffa
split:       jmp plain_stub + 1
across:      jmp plain_stub
             .size split, . - split
.data
word1: .quad 0
word2: .quad 0
word3: .quad 0
data: .quad 0
)";

class Linkage : public ::testing::Test {
 protected:
  Linkage() : victim_(test::link_victim(kSource)) {}
  uint64_t at(const char* name) const { return victim_.symbols.at(name); }
  std::vector<LinkageStub> stubs() const {
    return linkage_stubs(victim_.text.text, {at("word1"), at("word2"), at("word3")});
  }
  std::vector<Reference> branches() const {
    std::vector<uint64_t> targets;
    for (const LinkageStub& stub : stubs()) targets.push_back(stub.address);
    const TextRange& text = victim_.text.text.front();
    return near_branches(text.bytes, text.address, targets);
  }
  static std::vector<uint64_t> places(const std::vector<Reference>& branches) {
    std::vector<uint64_t> places;
    for (const Reference& branch : branches) places.push_back(branch.at);
    return places;
  }

  test::Victim victim_;
};

TEST_F(Linkage, StubsBeginWithTheirPrefixes) {
  const std::vector<LinkageStub> found = stubs();
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].address, at("plain_stub"));
  EXPECT_EQ(found[0].word, at("word1"));
  EXPECT_EQ(found[1].address, at("marked_stub"));
  EXPECT_EQ(found[2].address, at("bound_stub"));
  EXPECT_EQ(found[2].word, at("word3"));
}

TEST_F(Linkage, BytesAreLookedAtEverywhere) {
  EXPECT_EQ(places(branches()),
            (std::vector<uint64_t>{at("call1"), at("fake"), at("call2"), at("tail"), at("behind"),
                                   at("nobody"), at("across")}));
}

// What is called behind data between instructions nobody knows.
TEST_F(Linkage, RealOnesAreInstructionsOfAFunctionWithinAPage) {
  const Module module(victim_.text);
  EXPECT_EQ(at("across") % 4096, 0xfffu);
  EXPECT_EQ(places(real_branches(module, branches())),
            (std::vector<uint64_t>{at("call1"), at("call2"), at("tail")}));
}

TEST_F(Linkage, NoTargetsNoBranches) {
  const TextRange& text = victim_.text.text.front();
  EXPECT_TRUE(near_branches(text.bytes, text.address, {}).empty());
  EXPECT_TRUE(linkage_stubs(victim_.text.text, {}).empty());
}

}  // namespace
}  // namespace dj::arch
