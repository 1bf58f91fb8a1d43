// SPDX-License-Identifier: Apache-2.0
// The scan in blocks of sixteen bytes against the same scan of seven bytes at a time, which is too
// short for a block.
#include "arch/x86_64/branch_scan.h"

#include <gtest/gtest.h>

#include <random>

namespace dj::arch {
namespace {

constexpr uint64_t kLow = 0x401000;
constexpr size_t kWindow = 7;  // one more than the longest form

std::vector<Reference> scan(std::span<const uint8_t> bytes, uint64_t address, bool fixed,
                            const ByteSet& marked) {
  ModuleText text;
  text.position_independent = !fixed;
  text.text.push_back({address, bytes});
  return scan_references(text, marked);
}

std::vector<Reference> scan_each(std::span<const uint8_t> bytes, bool fixed,
                                 const ByteSet& marked) {
  std::vector<Reference> found;
  for (size_t at = 0; at < bytes.size(); at++) {
    const auto window = bytes.subspan(at, std::min(kWindow, bytes.size() - at));
    for (const Reference& reference : scan(window, kLow + at, fixed, marked)) {
      if (reference.at == kLow + at) found.push_back(reference);
    }
  }
  return found;
}

// Bytes that begin references more often than others do, and addresses of the text.
std::vector<uint8_t> random_code(std::mt19937& random, size_t size) {
  constexpr uint8_t kOpcodes[] = {0x74, 0xe2, 0xe8, 0xe9, 0xeb, 0x0f,
                                  0x84, 0x8d, 0x05, 0x3d, 0xc7, 0xf8};
  std::vector<uint8_t> bytes(size);
  for (uint8_t& byte : bytes)
    byte = random() % 2 ? kOpcodes[random() % std::size(kOpcodes)] : uint8_t(random());
  for (size_t i = 0; i + 4 < size; i += 1 + random() % 16) {
    const uint32_t value =
        random() % 2 ? uint32_t(kLow + random() % size) : uint32_t(random() % size - size / 2);
    memcpy(&bytes[i], &value, sizeof value);
  }
  return bytes;
}

bool same(const Reference& a, const Reference& b) {
  return a.kind == b.kind && a.at == b.at && a.target == b.target;
}

TEST(BranchScan, FindsInBlocksWhatIsAtEachByte) {
  std::mt19937 random(1);
  size_t seen = 0;
  for (const size_t size : {1, 6, 7, 15, 16, 17, 22, 23, 24, 33, 47, 48, 500, 5000}) {
    for (const bool fixed : {false, true}) {
      const std::vector<uint8_t> code = random_code(random, size);
      ByteSet marked(kLow, kLow + size);
      for (size_t i = 0; i < size; i += 1 + random() % 3) marked.add(kLow + i);
      const auto found = scan(code, kLow, fixed, marked), expected = scan_each(code, fixed, marked);
      EXPECT_TRUE(std::ranges::equal(found, expected, same))
          << size << " bytes, " << found.size() << " found, not " << expected.size();
      seen += found.size();
    }
  }
  EXPECT_GT(seen, 500u);
}

}  // namespace
}  // namespace dj::arch
