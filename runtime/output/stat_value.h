// SPDX-License-Identifier: Apache-2.0
// StatValue: an aggregate of the script as data, with all that the script asks of it anywhere.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/process/untrusted.h"
#include "runtime/shared/stat.h"

namespace dj {

// A bucket that is not empty: the value that it begins with, and its samples.
using StatBucket = std::pair<int64_t, int64_t>;

struct StatValue : abi::StatTotal {
  // "variance", "p50" .. "p999", of those that the script asks for; none when there is no sample.
  std::vector<std::pair<const char*, int64_t>> derived;
  bool has_log = false, has_linear = false;  // whether the script asks for such a histogram
  std::vector<StatBucket> log, linear;
  int64_t below = 0, above = 0;  // samples outside of the linear buckets
};

// Copies `rows` parts at `first`, `stride` bytes apart, and sums them as one. They may change
// meanwhile. shape: Layout's.
StatValue read_stat(const ArenaView& arena, uint64_t first, uint32_t stride, uint32_t rows,
                    const abi::StatShape& shape);

// The parts of an aggregate that exist, with their names: count alone when there is no sample, else
// count, min, max, sum, avg.
std::vector<std::pair<const char*, int64_t>> stat_parts(const abi::StatTotal& total);

}  // namespace dj
