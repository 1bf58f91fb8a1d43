// SPDX-License-Identifier: Apache-2.0
// Exits by thunks, from new stacks, to blocks that are code of their own and to code of others;
// jumps that are none.
#include <gtest/gtest.h>

#include "arch/x86_64/safety.h"
#include "arch/x86_64/test_victim.h"

namespace dj::arch {
namespace {

constexpr const char* kThunks = R"(
.macro retpoline reg
  call 2f
  1: pause
  lfence
  jmp 1b
  .balign 16,0xcc
  2: mov \reg,(%rsp)
  ret
.endm
func thunk; retpoline %r11; done thunk
func fenced; lfence; jmp *%rdx; done fenced
)";

test::Victim victim(const std::string& source) {
  return test::link_victim(std::string(test::kFunctions) + kThunks + source +
                           "func h; call f; ret; done h; .data; .balign 8; "
                           "blocks: .quad piece; .text");
}

Exits exits_of(const test::Victim& v, const std::string& symbol = "f") {
  Checker checker(v.text);
  const uint64_t begin = v.symbols.at(symbol);
  return checker.exits(begin, begin + v.sizes.at(symbol));
}

constexpr const char* kPiece = ".balign 64,0xcc; func piece; mov $1,%eax; ret; done piece;";

// Where the one exit stands behind the function's begin, and the register that says where to.
struct Expected {
  std::string source;
  uint64_t at;
  uint8_t reg;
  bool sometimes;
};

TEST(Thunks, JumpsThroughThemGoWhereTheRegisterSays) {
  const Expected cases[] = {
      {"func f; mov 8(%rdi),%r11; jmp thunk; done f;", 4, 11, false},
      {"func f; mov 8(%rdi),%rdx; jmp fenced; done f;", 4, 2, false},
      {"func f; mov 8(%rdi),%rax; retpoline %rax; done f;", 4, 0, false},
      {"func f; lea (%rdi,%rsi),%rdx; jmp fenced; done f;", 4, 2, true},
      {"func f; lea 7f(%rip),%r11; mov (%r11,%rdi,8),%r11; 7: retpoline %r11; done f;", 11, 11,
       true},
  };
  for (const Expected& c : cases) {
    SCOPED_TRACE(c.source);
    const test::Victim v = victim(c.source + kPiece);
    const Exits exits = exits_of(v);
    ASSERT_TRUE(exits.complete) << exits.reason;
    ASSERT_EQ(exits.exits.size(), 1u);
    const Exit& exit = exits.exits[0];
    EXPECT_EQ(exit.exit_address, v.symbols.at("f") + c.at);
    EXPECT_TRUE(exit.tail_jump && exit.tail_target == 0 && exit.tail_slot == 0);
    EXPECT_EQ(exit.leaving.how, c.sometimes ? Leaving::IfOutside : Leaving::Always);
    if (!c.sometimes) continue;
    EXPECT_EQ(exit.leaving.target, c.reg);
  }
  EXPECT_EQ(exits_of(victim(std::string("func f; ret; done f;") + kPiece), "thunk").exits.size(),
            1u);
}

// A cold part's jump back to an indirect jump of its function is no exit of its own.
TEST(Thunks, AreNoneOfTheFunctionsOwnCode) {
  const test::Victim v =
      victim(std::string("func f; test %edi,%edi; js cold; 1: jmp *%rax; done f; .balign 16,0xcc;"
                         "func cold; mov $2,%eax; jmp 1b; done cold;") +
             kPiece);
  const Exits exits = exits_of(v);
  ASSERT_TRUE(exits.complete) << exits.reason;
  ASSERT_EQ(exits.exits.size(), 1u);
  EXPECT_EQ(exits.exits[0].exit_address, v.symbols.at("f") + 4);
}

// gcc's -mindirect-branch=thunk-inline: jmp 4f; 3: the thunk; 4: call 3b.
TEST(Thunks, CalledOnesAreNoExits) {
  const test::Victim v = victim(
      std::string("func f; jmp 4f; 3: retpoline %rax; 4: call 3b; nop; ret; done f;") + kPiece);
  const Exits exits = exits_of(v);
  ASSERT_TRUE(exits.complete) << exits.reason;
  ASSERT_EQ(exits.exits.size(), 1u);
  EXPECT_EQ(exits.exits[0].exit_address, v.symbols.at("f") + v.sizes.at("f") - 1);
}

TEST(Thunks, ReturnsByRegister) {
  const test::Victim v = victim(
      std::string("func f; push %rbx; pop %rbx; pop %r9; lfence; jmp *%r9; done f;") + kPiece);
  const Exits exits = exits_of(v);
  ASSERT_TRUE(exits.complete) << exits.reason;
  ASSERT_EQ(exits.exits.size(), 1u);
  EXPECT_EQ(exits.exits[0].exit_address, v.symbols.at("f") + 2);
  EXPECT_FALSE(exits.exits[0].tail_jump);
}

TEST(Thunks, LinkageStubsWithThem) {
  const test::Victim v =
      victim(std::string("func f; jmp stub; done f; .balign 16,0xcc; stub: mov slot(%rip),%r11; "
                         "jmp thunk; .data; slot: .quad 0; .text;") +
             kPiece);
  const Exits exits = exits_of(v);
  ASSERT_TRUE(exits.complete) << exits.reason;
  ASSERT_EQ(exits.exits.size(), 1u);
  EXPECT_EQ(exits.exits[0].tail_slot, v.symbols.at("slot"));
}

// One more return than calls, which __morestack comes back to.
TEST(SplitStack, ReturnsToWhoGaveTheStackAreNone) {
  const test::Victim v =
      victim(std::string("func more; ret; done more;"
                         "func f; cmp %fs:0x70,%rsp; jb 1f; 2: mov $1,%eax; ret; 1: mov $24,%r10d; "
                         "xor %r11d,%r11d; call more; ret; jmp 2b; done f;") +
             kPiece);
  const Exits exits = exits_of(v);
  ASSERT_TRUE(exits.complete) << exits.reason;
  ASSERT_EQ(exits.exits.size(), 2u);
  for (const Exit& exit : exits.exits) {
    EXPECT_EQ(exit.leaving.how, Leaving::IfOutside);
    EXPECT_EQ(exit.leaving.target, kOnStack);
    ASSERT_EQ(exit.leaving.inside.size(), 1u);
    EXPECT_EQ(exit.leaving.inside[0].begin, v.symbols.at("more"));
  }
}

// A coroutine's state, and a word that only others know.
TEST(Exits, ByAWordLeaveSometimesWhereAnAddressIsKept) {
  const test::Victim v = victim(
      std::string("func f; jmp *word(%rip); 1: ret; done f; func k; jmp *word(%rip); done k; "
                  ".data; .balign 8; word: .quad 1b; .text;") +
      kPiece);
  for (const auto& [name, how] : {std::pair("f", Leaving::IfOutside), {"k", Leaving::Always}}) {
    const Exits exits = exits_of(v, name);
    ASSERT_TRUE(exits.complete) << exits.reason;
    EXPECT_EQ(exits.exits[0].leaving.how, how) << name;
    EXPECT_EQ(exits.exits[0].tail_slot, v.symbols.at("word")) << name;
  }
}

// A jump by a table may lead to a block that is code of its own: where its function is known that
// is one of its exits, else the function cannot be probed.
TEST(Pieces, BelongToTheFunctionWhoseNameTheyHave) {
  test::Victim v = victim(std::string("func f; jmp *blocks(,%rdi,8); done f;") + kPiece);
  const uint64_t f = v.symbols.at("f"), piece = v.symbols.at("piece");
  std::erase(v.text.named, piece);
  v.text.pieces = {piece};
  const Exits lost = exits_of(v);
  EXPECT_FALSE(lost.complete);
  EXPECT_NE(lost.reason.find("perhaps to"), std::string::npos) << lost.reason;
  v.text.own_pieces = {{f, piece}};
  const Exits own = exits_of(v);
  ASSERT_TRUE(own.complete) << own.reason;
  ASSERT_EQ(own.exits.size(), 2u);
  EXPECT_EQ(own.exits[0].leaving.how, Leaving::IfOutside);
  EXPECT_EQ(own.exits[1].exit_address, piece + 5);
}

// __builtin_longjmp(), longjmp(), __builtin_eh_return() in its two forms, setcontext(), and the end
// that clang -O0 jumps to behind calls that do not return.
TEST(Exits, JumpsThatDoNotReturn) {
  const char* const cases[] = {
      "func f; test %edi,%edi; je 1f; ret; 1: mov 8(%rdx),%rax; mov 16(%rdx),%rsp; "
      "mov (%rdx),%rbp; jmp *%rax; done f;",
      "func f; test %edi,%edi; je 1f; ret; 1: mov %r8,%rsp; mov %r9,%rbp; jmp *%rdx; done f;",
      "func f; test %edi,%edi; je 1f; ret; 1: mov 0(%rbp),%rbp; mov %rcx,%rsp; pop %rcx; "
      "jmp *%rcx; done f;",
      "func f; test %edi,%edi; je 1f; ret; 1: mov %rcx,%rsp; ret; done f;",
      "func f; test %edi,%edi; je 1f; ret; 1: mov 0xa0(%rdx),%rsp; mov 0x80(%rdx),%rbx; "
      "mov 0xa8(%rdx),%rcx; push %rcx; xor %eax,%eax; ret; done f;",
      "func f; test %edi,%edi; je 1f; ret; 1: call h; jmp 1f; done f; 1: .balign 16,0x90;",
  };
  for (const char* source : cases) {
    const test::Victim v = victim(std::string(source) + kPiece);
    const Exits exits = exits_of(v);
    ASSERT_TRUE(exits.complete) << source << ": " << exits.reason;
    ASSERT_EQ(exits.exits.size(), 1u) << source;
    EXPECT_EQ(exits.exits[0].exit_address, v.symbols.at("f") + 4) << source;
  }
}

// Who has kept where its stack was comes back to it there: coroutines, their switch as `pop` and
// `jmp`, swapcontext(), and a stack that was aligned for a while.
TEST(Exits, OfStackSwitchesReturn) {
  const struct {
    const char* source;
    uint64_t exit;  // from f on
  } cases[] = {
      {"func f; push %rbx; mov %rsp,(%rdi); mov %rsi,%rsp; pop %rbx; ret; done f;", 8},
      {"func f; push %rbx; mov %rsp,%rax; mov %rdi,%rsp; pop %rbx; pop %r8; jmp *%r8; done f;", 8},
      {"func f; lea 8(%rsp),%rcx; mov %rcx,0xa0(%rdi); mov 0xa0(%rsi),%rsp; push %rdi; ret; done "
       "f;",
       20},
      {"func f; mov %rsp,%rax; and $-32,%rsp; mov %rax,%rsp; ret; done f;", 10},
  };
  for (const auto& [source, exit] : cases) {
    const test::Victim v = victim(std::string(source) + kPiece);
    const Exits exits = exits_of(v);
    ASSERT_TRUE(exits.complete) << source << ": " << exits.reason;
    ASSERT_EQ(exits.exits.size(), 1u) << source;
    EXPECT_EQ(exits.exits[0].exit_address, v.symbols.at("f") + exit) << source;
    EXPECT_FALSE(exits.exits[0].tail_jump) << source;
  }
}

// Each function of a chain goes on in the middle of the next, whose exits are its own, then. One
// piece more is looked at than are allowed, and not the rest.
TEST(Exits, OfFunctionsThatShareCodeWithHundredsAreUnknown) {
  constexpr int kChain = 100;
  std::string source = "func f; jmp c0 + 1; done f; ";
  for (int i = 0; i < kChain; i++) {
    const std::string name = "c" + std::to_string(i), next = "c" + std::to_string(i + 1);
    source += "func " + name + "; nop; mov $1,%eax; jmp " + next + " + 1; done " + name + "; ";
  }
  source += "func c" + std::to_string(kChain) + "; nop; ret; done c" + std::to_string(kChain) + ";";
  const test::Victim v = victim(source + kPiece);
  EXPECT_EQ(exits_of(v).reason, "more than 64 pieces");
  const Exits near_its_end = exits_of(v, "c90");
  EXPECT_TRUE(near_its_end.complete) << near_its_end.reason;
  EXPECT_TRUE(near_its_end.shared);
}

}  // namespace
}  // namespace dj::arch
