// SPDX-License-Identifier: Apache-2.0
// A copy that move_linked() has made is what link() makes at the same base, byte for byte.
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/lower/session_test.h"
#include "compiler/stages/move_linked.h"

namespace dj {
namespace {

constexpr uint64_t kPage = 4096, kBase = 0x7f1230000000;
constexpr const char* kScript = R"(
global a, s, n
probe func("f") { a[$a, "k"] += $b; s <<< $a; n++; printf("%d %s %d\n", $a, "text", n / $b) }
probe end { print(n) }
)";

struct Placed {
  std::vector<uint8_t> bytes;
  Linked linked;
};

Placed link_at(const TestSession& session, uint64_t base) {
  Placed placed{std::vector<uint8_t>(link_bytes(session.image)), {}};
  const AgentPlaces places = {-160, 0x690,
                              session.layout.header.threads.address(session.layout.arena()),
                              session.layout.header.own_stacks.address(session.layout.arena())};
  Result<Linked> linked = link(session.image, base, placed.bytes, places);
  EXPECT_TRUE(linked.ok()) << linked.error().message;
  placed.linked = linked.take();
  return placed;
}

TEST(CodeMoves, CopyIsWhatLinkMakes) {
  const TestSession session(kScript);
  const Placed first = link_at(session, kBase);
  ASSERT_TRUE(first.linked.moves.has_value());
  for (const uint64_t to : {0x7f1230001000, 0x7f0000000000, 0x555555554000}) {
    const Placed wanted = link_at(session, to);
    std::vector<uint8_t> copy = first.bytes;
    EXPECT_TRUE(move_linked(copy, *first.linked.moves, kBase, to));
    EXPECT_EQ(copy, wanted.bytes) << std::hex << to;
    EXPECT_NE(copy, first.bytes);
    const Linked there = moved(first.linked, kBase, to);
    EXPECT_EQ(there.symbols, wanted.linked.symbols);
    EXPECT_EQ(there.handlers, wanted.linked.handlers);
  }
}

// Processes share the pages in front of the first number that moves (runtime/memory/shared_code.h).
TEST(CodeMoves, LieInTheLastPages) {
  const TestSession session(kScript);
  const Linked linked = link_at(session, kBase).linked;
  ASSERT_TRUE(linked.moves.has_value());
  ASSERT_FALSE(linked.moves->empty());
  const uint64_t first = std::ranges::min(*linked.moves, {}, &CodeMove::offset).offset;
  EXPECT_GT(first + 2 * kPage, linked.bytes_used);
}

// A distance of four bytes to something that stays.
TEST(CodeMoves, RefusesWhatWouldNotReach) {
  const std::vector<CodeMove> moves = {{.offset = 1, .is_wide = false, .grows = false}};
  const std::vector<uint8_t> jump = {0xe8, 0, 0, 0, 0x70};
  std::vector<uint8_t> copy = jump;
  EXPECT_TRUE(move_linked(copy, moves, 0x1000, 0x2000));
  EXPECT_EQ(copy, (std::vector<uint8_t>{0xe8, 0, 0xf0, 0xff, 0x6f}));
  copy = jump;
  EXPECT_FALSE(move_linked(copy, moves, kBase, 0x1000));
}

}  // namespace
}  // namespace dj
