// First fit over a sorted list of free ranges.
#include "runtime/memory/island.h"

#include <algorithm>
#include <bit>

namespace dj {

Island::Island(uint64_t base, std::span<uint8_t> working) : base_(base), working_(working) {
  free_[base] = base + working.size();
}

std::optional<uint64_t> Island::take(uint64_t address, uint64_t bytes) {
  auto after = free_.upper_bound(address);
  if (after == free_.begin()) {
    return std::nullopt;
  }
  auto [begin, end] = *std::prev(after);
  if (address + bytes > end) {
    return std::nullopt;
  }
  auto range = std::prev(after);
  if (begin < address) {
    range->second = address;
    if (address + bytes < end) {
      free_.emplace_hint(after, address + bytes, end);
    }
  } else if (address + bytes < end) {
    move_begin(range, address + bytes);
  } else {
    free_.erase(range);
  }
  return address;
}

void Island::move_begin(Ranges::iterator range, uint64_t begin) {
  const auto behind = std::next(range);
  auto node = free_.extract(range);
  node.key() = begin;
  free_.insert(behind, std::move(node));
}

std::optional<uint64_t> Island::reserve(uint64_t bytes) {
  for (const auto& [begin, end] : free_) {
    uint64_t address = (begin + 15) & ~uint64_t{15};
    if (address + bytes <= end) {
      return take(address, bytes);
    }
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

std::optional<uint64_t> Island::reserve(uint64_t bytes, const DisplacementPattern& pattern) {
  for (const auto& [begin, end] : free_) {
    uint64_t address = next_fitting(pattern, begin);
    int64_t distance = static_cast<int64_t>(address - (pattern.jump + 5));
    if (address + bytes <= end && distance == static_cast<int32_t>(distance)) {
      return take(address, bytes);
    }
  }
  return std::nullopt;
}

void Island::give_back(uint64_t address, uint64_t bytes) {
  if (bytes == 0) {
    return;
  }
  uint64_t end = address + bytes;
  auto next = free_.lower_bound(address);
  const bool meets_next = next != free_.end() && next->first == end;
  if (next != free_.begin() && std::prev(next)->second == address) {
    std::prev(next)->second = meets_next ? next->second : end;
    if (meets_next) {
      free_.erase(next);
    }
  } else if (meets_next) {
    move_begin(next, address);
  } else {
    free_.emplace_hint(next, address, end);
  }
}

std::span<uint8_t> Island::view(uint64_t address, uint64_t bytes) {
  CHECK(contains(address) && address + bytes <= end());
  return working_.subspan(address - base_, bytes);
}

uint64_t Island::bytes_left() const {
  uint64_t sum = 0;
  for (const auto& [begin, end] : free_) {
    sum += end - begin;
  }
  return sum;
}

}  // namespace dj
