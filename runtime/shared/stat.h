// SPDX-License-Identifier: Apache-2.0
// stat.h reads one Stat or a row of them, and finds the histogram word that a sample belongs to.
#pragma once
#include "runtime/shared/abi.h"

namespace dj::abi {

// Valid when count != 0.
inline int64_t stat_min(const Stat& stat) { return stat.min_word ^ INT64_MAX; }
inline int64_t stat_max(const Stat& stat) { return stat.max_word ^ INT64_MIN; }

// Numbers of StatOp (program.h).
enum StatOpNumber : uint32_t {
  kStatCount, kStatSum, kStatMin, kStatMax, kStatAvg,  // StatTotal::get
  kStatVariance, kStatP50, kStatP90, kStatP95, kStatP99, kStatP999,  // dj_stat_derived
};

// Several Stats as one: rows of a scalar aggregate, or a single element.
struct StatTotal {
  int64_t count = 0, sum = 0, min = INT64_MAX, max = INT64_MIN;
  void add(const Stat& stat) {
    count = static_cast<int64_t>(static_cast<uint64_t>(count) + static_cast<uint64_t>(stat.count));
    sum = static_cast<int64_t>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(stat.sum));
    if (stat_min(stat) < min) min = stat_min(stat);
    if (stat_max(stat) > max) max = stat_max(stat);
  }
  // 0 when there is no sample; but a snapshot may part a sample's count from the rest (dj_stat_move),
  // and sums of snapshots are to be exact.
  int64_t get(uint32_t op) const {
    if (count == 0 && op != kStatSum) return 0;
    switch (op) {
      case kStatCount:
        return count;
      case kStatSum:
        return sum;
      case kStatMin:
        return min;
      case kStatMax:
        return max;
      default:
        return count == -1 ? static_cast<int64_t>(0 - static_cast<uint64_t>(sum)) : sum / count;
    }
  }
};

inline Stat* stat_row(Stat* first, uint32_t stride, uint32_t row) {
  return reinterpret_cast<Stat*>(reinterpret_cast<char*>(first) + uint64_t{stride} * row);
}
inline const Stat* stat_row(const Stat* first, uint32_t stride, uint32_t row) {
  return stat_row(const_cast<Stat*>(first), stride, row);
}
// Total of `rows` rows, `stride` bytes apart.
inline StatTotal stat_total(const Stat* first, uint32_t stride, uint32_t rows) {
  StatTotal total;
  for (uint32_t i = 0; i < rows; ++i) total.add(*stat_row(first, stride, i));
  return total;
}

// The histogram words behind a Stat; the linear ones behind the logarithmic ones.
inline int64_t* stat_log(Stat* stat) { return reinterpret_cast<int64_t*>(stat + 1); }
inline int64_t* stat_linear(Stat* stat, const StatShape& shape) {
  return stat_log(stat) + (shape.has_log ? kLogBuckets : 0);
}
inline const int64_t* stat_log(const Stat* stat) { return stat_log(const_cast<Stat*>(stat)); }
inline const int64_t* stat_linear(const Stat* stat, const StatShape& shape) {
  return stat_linear(const_cast<Stat*>(stat), shape);
}

// Sum of the squares: low word, high word.
inline uint64_t* stat_squares(Stat* stat, const StatShape& shape) {
  return reinterpret_cast<uint64_t*>(stat_linear(stat, shape) + shape.linear_count);
}
inline int64_t* stat_fine(Stat* stat, const StatShape& shape) {
  uint64_t* squares = stat_squares(stat, shape);
  return reinterpret_cast<int64_t*>(squares + (shape.extras & kStatSquares ? 2 : 0));
}

// Fine buckets: 16 of equal width for each power of two, so that the middle of a bucket is at most
// 1/32 away from every value in it; values below 32 are exact. Negative ones are mirrored.
constexpr uint32_t kFineSteps = 16, kFineStepBits = 4;
constexpr uint32_t kFineZero = kFineSteps * (64 - kFineStepBits + 1);
constexpr uint32_t kFineBuckets = 2 * kFineZero;

// How many buckets from that of 0.
inline uint32_t fine_step(uint64_t size) {
  if (size < kFineSteps) return static_cast<uint32_t>(size);
  const uint32_t bit = 63 - static_cast<uint32_t>(__builtin_clzll(size));
  return (bit - kFineStepBits + 1) * kFineSteps +
         (static_cast<uint32_t>(size >> (bit - kFineStepBits)) & (kFineSteps - 1));
}
inline uint32_t fine_bucket(int64_t sample) {
  const uint32_t step =
      fine_step(sample < 0 ? 0 - static_cast<uint64_t>(sample) : static_cast<uint64_t>(sample));
  return sample < 0 ? kFineZero - step : kFineZero + step;
}
// The middle of a bucket.
inline int64_t fine_value(uint32_t bucket) {
  bool negative = bucket < kFineZero;
  uint64_t step = negative ? kFineZero - bucket : bucket - kFineZero, size = step;
  if (step >= kFineSteps) {
    uint64_t shift = step / kFineSteps - 1;
    uint64_t low = (kFineSteps + step % kFineSteps) << shift;
    size = low + ((uint64_t{1} << shift) - 1) / 2;
  }
  if (negative && size > uint64_t{1} << 63) return INT64_MIN;  // no other number is in its bucket
  return static_cast<int64_t>(negative ? 0 - size : size);
}

// Forms of histograms: kHistFine + n has 2^n buckets for each power of two.
enum HistForm : uint32_t { kHistLog, kHistLinear, kHistFine };
inline uint32_t hist_count(const StatShape& shape, uint32_t form) {
  if (form >= kHistFine) return shape.extras & kStatFine ? kFineBuckets : 0;
  return form == kHistLinear ? shape.linear_count : shape.has_log ? kLogBuckets : 0;
}
inline const int64_t* hist_words(const Stat* stat, const StatShape& shape, uint32_t form) {
  if (form >= kHistFine) return stat_fine(const_cast<Stat*>(stat), shape);
  return form == kHistLinear ? stat_linear(stat, shape) : stat_log(stat);
}

constexpr int64_t kLogShown = 128;  // buckets that a script can name: number i is word i + 1
constexpr uint32_t kLogZero = 65;  // bucket of the value 0

// Bucket of a sample: kLogZero + 1 + n for 2^n <= sample < 2^(n+1), mirrored for negative ones.
inline uint32_t log_bucket(int64_t sample) {
  auto bit = [](uint64_t size) { return 63 ^ static_cast<uint32_t>(__builtin_clzll(size)); };
  if (__builtin_expect(sample > 0, 1)) return kLogZero + 1 + bit(static_cast<uint64_t>(sample));
  return sample == 0 ? kLogZero : kLogZero - 1 - bit(0 - static_cast<uint64_t>(sample));
}

// 0: below linear_start; linear_count - 1: above the last bucket.
inline uint32_t linear_bucket(const StatShape& shape, int64_t sample) {
  if (sample < shape.linear_start) return 0;
  uint64_t step = shape.linear_step > 0 ? static_cast<uint64_t>(shape.linear_step) : 1;
  uint64_t bucket =
      (static_cast<uint64_t>(sample) - static_cast<uint64_t>(shape.linear_start)) / step;
  uint64_t last = shape.linear_count - 1;
  return static_cast<uint32_t>(bucket + 1 < last ? bucket + 1 : last);
}

}  // namespace dj::abi
