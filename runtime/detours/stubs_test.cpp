// SPDX-License-Identifier: Apache-2.0
// Stubs: pages that they can have in common, and memory that pages have in common; and who gets
// another when those above it have become others.
#include "runtime/detours/stubs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <random>
#include <set>

namespace dj {
namespace {

constexpr uint64_t kText = 0x7f0000000000;
constexpr AddressRange kArea = {kText - (64 << 20), kText - (63 << 20)};
constexpr uint32_t kAll = 0xffffffff, kLowest = 0xff;

StubSpace empty_space(uint64_t most = 1000) {
  return StubSpace({{kText - (uint64_t{4} << 30), kArea.begin}}, most);
}

// A jump that can lead to this address and nowhere else.
DisplacementPattern only(uint64_t jump, uint64_t stub) {
  return {jump, static_cast<uint32_t>(stub - (jump + 5)), kAll};
}
// Any whose lowest byte is the same.
DisplacementPattern like(uint64_t jump, uint64_t stub) {
  return {jump, static_cast<uint32_t>(stub - (jump + 5)) & kLowest, kLowest};
}

TEST(Stubs, SharePagesWhereTheyCan) {
  StubSpace space = empty_space();
  const uint64_t far = kArea.begin - (16 << 20) + 0x123;
  ASSERT_EQ(space.reserve(only(kText, far), kArea), far);
  for (uint64_t jump = kText + 0x100; jump < kText + 0x10000; jump += 0x1234) {
    const std::optional<uint64_t> stub = space.reserve(like(jump, far + 0x40), kArea);
    ASSERT_TRUE(stub);
    EXPECT_EQ(*stub & kLowest, (far + 0x40) & kLowest);
    EXPECT_EQ(*stub & ~0xfffull, far & ~0xfffull);
  }
  ASSERT_EQ(space.pages().size(), 1u);
}

TEST(Stubs, OfAFullPageAreElsewhere) {
  StubSpace space = empty_space();
  const uint64_t first = kArea.begin - (16 << 20);
  ASSERT_EQ(space.reserve(only(kText, first), kArea), first);
  for (int i = 0; i < 16 * 3; i++) ASSERT_TRUE(space.reserve(like(kText + 8, first + 9), kArea));
  uint64_t bytes = 0;
  const std::vector<StubPages> pages = space.shared_pages(&bytes);
  EXPECT_GE(pages.size(), 2u);
  EXPECT_EQ(bytes, 3u * 4096);
}

TEST(Stubs, PagesShareMemoryWhereTheirStubsDoNotMeet) {
  StubSpace space = empty_space();
  const uint64_t low = kText - (1 << 30);
  for (uint64_t i = 0; i < 20; i++) {
    const uint64_t stub = low + i * (4 << 20) + i * 5;
    ASSERT_EQ(space.reserve(only(kText + i * 16, stub), kArea), stub);
  }
  uint64_t bytes = 0;
  std::vector<StubPages> pages = space.shared_pages(&bytes);
  ASSERT_EQ(pages.size(), 20u);
  EXPECT_EQ(bytes, 4096u);
  for (const StubPages& each : pages) EXPECT_EQ(each.at, 0u);

  const uint64_t meeting = low + 100 * (uint64_t{4} << 20) + 97;  // within the last one's bytes
  ASSERT_EQ(space.reserve(only(kText + 0x1000, meeting), kArea), meeting);
  pages = space.shared_pages(&bytes);
  EXPECT_EQ(bytes, 2u * 4096);
  EXPECT_EQ(pages.back().at, 4096u);
}

// A page without stubs has no part in the memory, but its place.
TEST(Stubs, AllPagesOfAMappingLieInTheMemory) {
  StubSpace space = empty_space();
  const uint64_t low = kText - (1 << 30);
  for (const uint64_t stub : {low + 0x123, low + 0x2123})
    ASSERT_EQ(space.reserve(only(kText, stub), kArea), stub);
  uint64_t bytes = 0;
  for (const StubPages& pages : space.shared_pages(&bytes))
    EXPECT_LE(pages.at + (pages.range.end - pages.range.begin), bytes);
  EXPECT_EQ(bytes, 3u * 4096);
}

// Wherever they lie: each stub has bytes of its own in that memory.
TEST(Stubs, OfAnyPlacesMeetNowhereInTheMemory) {
  constexpr int kTrials = 200, kStubs = 40;
  std::mt19937_64 random(1);
  for (int trial = 0; trial < kTrials; trial++) {
    StubSpace space = empty_space();
    const uint64_t low = kText - (1 << 30);
    std::vector<uint64_t> stubs;
    for (int i = 0; i < kStubs; i++) {
      const uint64_t stub = low + random() % 64 * 4096 + random() % 4096;
      if (space.reserve(only(kText, stub), kArea) == stub) stubs.push_back(stub);
    }
    uint64_t bytes = 0;
    const std::vector<StubPages> pages = space.shared_pages(&bytes);
    std::set<uint64_t> taken;
    for (const uint64_t stub : stubs) {
      const auto there = std::ranges::find_if(
          pages, [&](const StubPages& each) { return each.range.contains(stub); });
      ASSERT_NE(there, pages.end());
      for (uint64_t byte = stub; byte < stub + 5; byte++) {
        const uint64_t at = there->at + (byte - there->range.begin);
        ASSERT_LT(at, bytes);
        ASSERT_TRUE(taken.insert(at).second);
      }
    }
  }
}

TEST(Stubs, MayLieAcrossPages) {
  StubSpace space = empty_space();
  const uint64_t low = kText - (1 << 30), across = low + 4094, begin = low + (4 << 20);
  ASSERT_EQ(space.reserve(only(kText, across), kArea), across);
  ASSERT_EQ(space.reserve(only(kText + 16, begin), kArea), begin);
  uint64_t bytes = 0;
  const std::vector<StubPages> pages = space.shared_pages(&bytes);
  ASSERT_EQ(pages.size(), 2u);
  EXPECT_EQ(pages[0].range.begin, low);
  EXPECT_EQ(pages[0].range.end, low + uint64_t{2} * 4096);
  EXPECT_EQ(bytes, 2u * 4096);  // the other one has room in the first of these
}

// Sixteen of a kind have room on a page; looking through all of them again for each would take
// minutes.
TEST(Stubs, ManyOfAKindAreFoundSoon) {
  StubSpace space = empty_space();
  constexpr uint64_t kStubs = 100'000;
  const auto begin = std::chrono::steady_clock::now();
  for (uint64_t i = 0; i < kStubs; i++) {
    ASSERT_TRUE(space.reserve(like(kText + (i << 8), kArea.begin + 0x40), kArea));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  uint64_t bytes = 0;
  ASSERT_EQ(space.shared_pages(&bytes).size(), 1u);
  EXPECT_EQ(bytes, kStubs / 16 * 4096);
}

// Two pages with no more between them than a mapping is worth are one mapping, stubs or not.
TEST(Stubs, NearOneAnotherAreOneMapping) {
  StubSpace space = empty_space();
  const uint64_t low = kText - (1 << 30);
  for (const uint64_t stub : {low + 0x123, low + 0x4123, low + 0x2123, low + 0x7123}) {
    ASSERT_EQ(space.reserve(only(kText, stub), kArea), stub);
  }
  uint64_t bytes = 0;
  const std::vector<StubPages> pages = space.shared_pages(&bytes);
  ASSERT_EQ(pages.size(), 2u);
  EXPECT_EQ(pages[0].range.begin, low);
  EXPECT_EQ(pages[0].range.end, low + 0x5000);
  EXPECT_EQ(bytes, 5u * 4096);  // the last one lies between the others
}

TEST(Stubs, OfTwoFreeRangesAreTwoMappings) {
  const uint64_t low = kText - (1 << 30), taken = low + 0x1000;
  StubSpace space({{low, taken}, {taken + 0x1000, low + 0x10000}}, 1000);
  ASSERT_TRUE(space.reserve(only(kText, low), kArea));
  ASSERT_TRUE(space.reserve(only(kText, taken + 0x1000), kArea));
  EXPECT_EQ(space.pages().size(), 2u);
}

TEST(Stubs, TakeNoMoreMappingsThanTheyMay) {
  StubSpace space = empty_space(2);
  const uint64_t low = kText - (1 << 30);
  ASSERT_TRUE(space.reserve(only(kText, low), kArea));
  ASSERT_TRUE(space.reserve(only(kText, low + (4 << 20)), kArea));
  EXPECT_FALSE(space.is_full());
  EXPECT_FALSE(space.reserve(only(kText, low + (8 << 20)), kArea));
  EXPECT_TRUE(space.is_full());
  EXPECT_TRUE(space.reserve(only(kText, low + 0x100), kArea));
  EXPECT_TRUE(space.reserve(only(kText, low + 0x2000), kArea));
  EXPECT_EQ(space.pages().size(), 2u);
}

// A function of one byte that leans on the next one.
struct Leaning {
  Leaning() {
    arch::ModuleText text;
    text.image_begin = kText;
    text.image_end = kText + 0x1000;
    text.text.push_back({kText, kCode});
    text.functions = {{kText, kText + 1}, {kText + 1, kText + sizeof kCode}};
    text.address_taken = {kText, kText + 1};
    std::vector<arch::Region> regions = {{.address = kText}, {.address = kText + 1}};
    arch::Checker(text).check(regions, arch::Guards::WhereNeeded, arch::Neighbours::Lean);
    for (size_t i = 0; i < 2; i++) {
      sites[i].address = regions[i].address;
      sites[i].original.assign(std::begin(kCode) + i, std::end(kCode));
      sites[i].jump = true;
      sites[i].form = std::make_shared<JumpForm>();
      sites[i].form->region = regions[i];
      sites[i].form->placements = arch::placements(regions[i]);
      sites[i].form->int3_length = regions[i].first;
    }
  }
  // Where the lower jump leads with these bytes above it.
  uint64_t target(std::array<uint8_t, 4> above) const {
    int32_t rel32 = 0;
    memcpy(&rel32, above.data(), 4);
    return kText + 5 + static_cast<uint64_t>(int64_t{rel32});
  }
  static constexpr uint8_t kCode[] = {0xc3, 0xbb, 1,    0,    0xf0, 0,
                                      0x48, 0x89, 0xf8, 0xc3, 0xcc, 0xcc};
  PatchSite sites[2];
};

TEST(Stubs, OfAJumpThatLeansOnAnotherOne) {
  Leaning both;
  StubSpace space = empty_space();
  choose_stubs({&both.sites[0], &both.sites[1]}, space, {{{kText, kText + 0x1000}, kArea}});
  ASSERT_TRUE(both.sites[0].jump && both.sites[1].jump);
  const arch::JumpBytes upper = both.sites[1].patched();
  EXPECT_EQ(both.sites[0].form->stub, both.target({upper[0], upper[1], upper[2], upper[3]}));
}

TEST(Stubs, WhoLeanedOnAJumpThatFindsNoneLeansOnItsInt3) {
  Leaning both;
  both.sites[1].form->placements.clear();
  StubSpace space = empty_space();
  choose_stubs({&both.sites[0], &both.sites[1]}, space, {{{kText, kText + 0x1000}, kArea}});
  EXPECT_FALSE(both.sites[1].jump);
  ASSERT_TRUE(both.sites[0].jump);
  EXPECT_EQ(both.sites[0].form->stub, both.target({0xcc, 1, 0, 0xf0}));
}

TEST(Stubs, WhoLeanedOnASiteThatIsNotThereFollowsTheText) {
  Leaning lower;
  StubSpace space = empty_space();
  choose_stubs({&lower.sites[0]}, space, {{{kText, kText + 0x1000}, kArea}});
  ASSERT_TRUE(lower.sites[0].jump);
  EXPECT_EQ(lower.sites[0].form->stub, lower.target({0xbb, 1, 0, 0xf0}));
}

}  // namespace
}  // namespace dj
