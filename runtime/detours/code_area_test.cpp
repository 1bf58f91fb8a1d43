// SPDX-License-Identifier: Apache-2.0
// Room in code areas and displacement patterns. Pure arithmetic against brute force.
#include "runtime/detours/code_area.h"

#include <gtest/gtest.h>

namespace dj {
namespace {

TEST(CodeArea, ReservesAlignedAndDisjoint) {
  std::vector<uint8_t> working(4096);
  CodeArea area(0x10000, working);
  EXPECT_EQ(area.reserve(5), 0x10000u);
  EXPECT_EQ(area.reserve(20), 0x10010u);
  EXPECT_EQ(area.reserve(1), 0x10030u);
  EXPECT_FALSE(area.reserve(4096).has_value());
  area.give_back(0x10010, 20);
  EXPECT_EQ(area.reserve(16), 0x10010u);
  EXPECT_EQ(area.view(0x10010, 4).data(), working.data() + 0x10);
}

TEST(CodeArea, FindsTheFirstFittingDisplacement) {
  std::vector<uint8_t> working(1 << 16);
  const uint32_t masks[] = {0, 0xff, 0xff00, 0xffff, 0xff000000, 0x00ff00ff};
  const uint64_t jumps[] = {0x400000, 0x7fff0000, 0x0ffffff0, 0xcc4c0000};
  for (uint32_t mask : masks) {
    for (uint64_t jump : jumps) {
      DisplacementPattern pattern{jump, 0xcccccccc & mask, mask};
      const uint64_t base = 0x10000000;
      CodeArea area(base, working);
      std::optional<uint64_t> got = area.reserve(32, pattern);
      std::optional<uint64_t> expected;
      for (uint64_t at = base; at + 32 <= base + working.size() && !expected; at++) {
        int64_t distance = static_cast<int64_t>(at - jump - 5);
        if (distance == static_cast<int32_t>(distance) &&
            (static_cast<uint32_t>(distance) & mask) == pattern.value) {
          expected = at;
        }
      }
      EXPECT_EQ(got, expected) << std::hex << mask << " from " << jump;
    }
  }
}

}  // namespace
}  // namespace dj
