// SPDX-License-Identifier: Apache-2.0
// StatValue holds an aggregate of the script as data, with every figure that the script asks of it
// anywhere.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/process/untrusted.h"
#include "runtime/shared/stat.h"

namespace dj {

// StatBucket is a bucket with samples: the value that it begins with, and their number.
using StatBucket = std::pair<int64_t, int64_t>;

struct StatValue : abi::StatTotal {
  // Those of "variance", "p50" .. "p999" that the script asks for; empty when there is no sample.
  std::vector<std::pair<const char*, int64_t>> derived;
  bool has_log = false, has_linear = false;  // whether the script asks for such a histogram
  std::vector<StatBucket> log, linear;
  int64_t below = 0, above = 0;  // samples outside of the linear buckets
};

// Copies `rows` parts at address `first`, `stride` bytes apart, and returns their sum. The target
// may change them meanwhile. shape: from the Layout.
StatValue read_stat(const ArenaView& arena, uint64_t first, uint32_t stride, uint32_t rows,
                    const abi::StatShape& shape);

// Returns the parts of an aggregate that exist, with their names: count alone when there is no
// sample, else count, min, max, sum, avg.
std::vector<std::pair<const char*, int64_t>> stat_parts(const abi::StatTotal& total);

}  // namespace dj
