// SPDX-License-Identifier: Apache-2.0
// First fit over a sorted list of free ranges.
#include "runtime/detours/code_area.h"

#include <algorithm>
#include <bit>

namespace dj {

CodeArea::CodeArea(uint64_t base, std::span<uint8_t> working) : base_(base), working_(working) {
  free_[base + working.size()] = base;
}

uint64_t CodeArea::take(Ranges::iterator range, uint64_t address, uint64_t bytes) {
  auto& [end, begin] = *range;
  if (begin < address) free_.emplace_hint(range, address, begin);
  if (address + bytes < end) {
    begin = address + bytes;
  } else {
    free_.erase(range);
  }
  return address;
}

std::optional<uint64_t> CodeArea::reserve(uint64_t bytes) {
  for (auto range = free_.begin(); range != free_.end(); ++range) {
    const auto [end, begin] = *range;
    const uint64_t address = (begin + 15) & ~uint64_t{15};
    if (address + bytes <= end) return take(range, address, bytes);
  }
  return std::nullopt;
}

// The legal displacements are value + any subset of the free bits: from a lower bound the next
// legal one is found by raising the lowest free bits, in a few steps.
uint64_t next_fitting(const DisplacementPattern& pattern, uint64_t from) {
  const uint64_t next = pattern.jump + 5;
  const uint32_t value = pattern.value & pattern.mask;
  for (;;) {
    uint32_t bits = static_cast<uint32_t>(from - next);
    uint32_t wrong = (bits & pattern.mask) ^ value;
    if (wrong == 0) {
      return from;
    }
    // Everything below the highest wrong bit becomes minimal; if that bit must fall, a free bit
    // above carries.
    int top = 31 - std::countl_zero(wrong);
    uint64_t low_bits = (uint64_t{2} << top) - 1;
    uint64_t fixed = (uint64_t{bits} & ~low_bits) | (value & low_bits);
    if ((value >> top & 1) == 0) {
      fixed += low_bits + 1;  // the bits above may now be wrong: the next round repairs them
    }
    from += fixed - bits;
  }
}

std::optional<uint64_t> CodeArea::reserve(uint64_t bytes, const DisplacementPattern& pattern) {
  for (auto range = free_.begin(); range != free_.end(); ++range) {
    const auto [end, begin] = *range;
    const uint64_t address = next_fitting(pattern, begin);
    const auto distance = static_cast<int64_t>(address - (pattern.jump + 5));
    if (address + bytes <= end && distance == static_cast<int32_t>(distance)) {
      return take(range, address, bytes);
    }
  }
  return std::nullopt;
}

void CodeArea::give_back(uint64_t address, uint64_t bytes) {
  if (bytes == 0) {
    return;
  }
  const uint64_t end = address + bytes;
  const auto next = free_.upper_bound(address);
  const auto before = next != free_.begin() ? std::prev(next) : free_.end();
  const bool meets_before = before != free_.end() && before->first == address;
  const uint64_t begin = meets_before ? before->second : address;
  if (meets_before) free_.erase(before);
  if (next != free_.end() && next->second == end) {
    next->second = begin;
  } else {
    free_.emplace_hint(next, end, begin);
  }
}

std::span<uint8_t> CodeArea::view(uint64_t address, uint64_t bytes) const {
  CHECK(contains(address) && address + bytes <= end());
  return working_.subspan(address - base_, bytes);
}

uint64_t CodeArea::bytes_left() const {
  uint64_t sum = 0;
  for (const auto& [end, begin] : free_) {
    sum += end - begin;
  }
  return sum;
}

}  // namespace dj
