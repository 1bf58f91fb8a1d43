// SPDX-License-Identifier: Apache-2.0
// ByteSet holds one bit per byte of the address range [low, high). add() ignores an address outside
// of it; has() gives false for one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dj::arch {

class ByteSet {
 public:
  ByteSet(uint64_t low, uint64_t high)
      : low_(low), size_(high - low), words_((high - low) / 64 + 1) {}
  uint64_t low() const { return low_; }
  uint64_t size() const { return size_; }
  void add(uint64_t address) {
    const uint64_t at = address - low_;
    if (at < size_) words_[at / 64] |= uint64_t(1) << (at % 64);
  }
  // Adds every address of the range.
  void fill() {
    for (uint64_t& word : words_) word = ~uint64_t(0);
  }
  bool has(uint64_t address) const {
    const uint64_t at = address - low_;
    return at < size_ && (words_[at / 64] >> (at % 64) & 1);
  }

 private:
  uint64_t low_, size_;
  std::vector<uint64_t> words_;
};

}  // namespace dj::arch
