// SPDX-License-Identifier: Apache-2.0
// Questions to lists of address ranges.
#pragma once
#include <algorithm>
#include <vector>

#include "arch/x86_64/text.h"

namespace dj::arch {

// Returns the first of sorted ranges, of which none touches another, that ends behind `address`.
inline std::vector<FunctionRange>::const_iterator first_behind(
    const std::vector<FunctionRange>& ranges, uint64_t address) {
  return std::upper_bound(ranges.begin(), ranges.end(), address,
                          [](uint64_t at, const FunctionRange& r) { return at < r.end; });
}

// Whether one of such ranges has a byte of [begin, end).
inline bool overlap_apart(const std::vector<FunctionRange>& ranges, uint64_t begin, uint64_t end) {
  const auto next = first_behind(ranges, begin);
  return next != ranges.end() && next->begin < end;
}

// Whether one of some ranges, in any order, has a byte of [begin, end).
inline bool overlaps(const std::vector<FunctionRange>& ranges, uint64_t begin, uint64_t end) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const FunctionRange& r) { return begin < r.end && r.begin < end; });
}

// Returns the bytes of both lists as sorted ranges of which none touches another.
inline std::vector<FunctionRange> ranges_apart(std::vector<FunctionRange> ranges,
                                               const std::vector<FunctionRange>& more) {
  ranges.insert(ranges.end(), more.begin(), more.end());
  std::sort(ranges.begin(), ranges.end(),
            [](const FunctionRange& a, const FunctionRange& b) { return a.begin < b.begin; });
  std::vector<FunctionRange> apart;
  for (const FunctionRange& r : ranges) {
    if (!apart.empty() && r.begin <= apart.back().end) {
      apart.back().end = std::max(apart.back().end, r.end);
    } else if (r.begin < r.end) {
      apart.push_back(r);
    }
  }
  return apart;
}

}  // namespace dj::arch
