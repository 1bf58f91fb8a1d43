// SPDX-License-Identifier: Apache-2.0
// Pairs are found wherever they stand, and nowhere else: compared with looking byte by byte.
#include "arch/x86_64/byte_pairs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace dj::arch {
namespace {

std::vector<size_t> one_by_one(std::span<const uint8_t> bytes, BytePair pair) {
  std::vector<size_t> found;
  for (size_t i = 0; i + 1 < bytes.size(); i++) {
    if (bytes[i] == pair.first && (bytes[i + 1] & pair.mask) == pair.second) found.push_back(i);
  }
  return found;
}

TEST(BytePairs, AreFoundInTextsOfEveryLength) {
  std::mt19937 random(7);
  size_t pairs = 0;
  for (size_t length = 0; length < 200; length++) {
    std::vector<uint8_t> bytes(length);
    for (uint8_t& byte : bytes) byte = random() % 2 != 0 ? 0x0f : 0x05;
    const std::vector<size_t> expected = one_by_one(bytes, kSyscallBytes);
    pairs += expected.size();
    EXPECT_EQ(find_pairs(bytes, kSyscallBytes), expected) << length;
  }
  EXPECT_GT(pairs, 1000u);
}

TEST(BytePairs, SeveralAreFoundAtOnce) {
  constexpr BytePair kOther = {0x05, 0x0f};
  std::mt19937 random(7);
  for (size_t length = 0; length < 100; length++) {
    std::vector<uint8_t> bytes(length);
    for (uint8_t& byte : bytes) byte = uint8_t(random() % 2 != 0 ? 0x0f : random() % 2 * 5);
    std::vector<size_t> expected = one_by_one(bytes, kSyscallBytes), found;
    const std::vector<size_t> others = one_by_one(bytes, kOther);
    expected.insert(expected.end(), others.begin(), others.end());
    std::sort(expected.begin(), expected.end());
    each_pair(bytes, {kSyscallBytes, kOther}, [&](size_t at) { found.push_back(at); });
    EXPECT_EQ(found, expected) << length;
  }
}

TEST(BytePairs, MayLeaveBitsOpen) {
  std::vector<uint8_t> bytes;
  for (int second = 0; second < 256; second++) bytes.insert(bytes.end(), {0xff, uint8_t(second)});
  const std::vector<size_t> found = find_pairs(bytes, kJumpIndirect);
  EXPECT_EQ(found, one_by_one(bytes, kJumpIndirect));
  EXPECT_EQ(found.size(), 32u);
}

}  // namespace
}  // namespace dj::arch
