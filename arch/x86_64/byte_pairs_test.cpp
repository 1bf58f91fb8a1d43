// Pairs are found wherever they stand, and nowhere else: compared with looking byte by byte.
#include "arch/x86_64/byte_pairs.h"

#include <gtest/gtest.h>

#include <random>

namespace dj::arch {
namespace {

std::vector<size_t> one_by_one(std::span<const uint8_t> bytes) {
  std::vector<size_t> found;
  for (size_t i = 0; i + 1 < bytes.size(); i++) {
    if (bytes[i] == 0x0f && bytes[i + 1] == 0x05) found.push_back(i);
  }
  return found;
}

TEST(BytePairs, AreFoundInTextsOfEveryLength) {
  std::mt19937 random(7);
  size_t pairs = 0;
  for (size_t length = 0; length < 200; length++) {
    std::vector<uint8_t> bytes(length);
    for (uint8_t& byte : bytes) byte = random() % 2 != 0 ? 0x0f : 0x05;
    const std::vector<size_t> expected = one_by_one(bytes);
    pairs += expected.size();
    EXPECT_EQ(find_pairs(bytes, kSyscallBytes[0], kSyscallBytes[1]), expected) << length;
  }
  EXPECT_GT(pairs, 1000u);
}

}  // namespace
}  // namespace dj::arch
