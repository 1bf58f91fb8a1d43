// Draws the histogram of an aggregate as SystemTap draws it: one line a bucket, '@' bars of at most
// 50 columns, two empty buckets kept at either end, long empty stretches shown as '~', an empty
// line at the end.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "runtime/shared/abi.h"

namespace dj {

// counts: the kLogBuckets words of a logarithmic histogram.
std::string draw_log_histogram(std::span<const int64_t> counts);
// counts: the kFineBuckets words of percentiles. Each power of two is shown in 2^bits parts; bits
// is at most kFineStepBits.
std::string draw_fine_histogram(std::span<const int64_t> counts, uint32_t bits);
// counts: shape.linear_count words: below start, start, start+step .., above.
std::string draw_linear_histogram(std::span<const int64_t> counts, const abi::StatShape& shape);

}  // namespace dj
