// SPDX-License-Identifier: Apache-2.0
// stat_derived.h computes from the words behind an aggregate that has several parts: rows of a
// scalar, or elements of an array. Each: each(visit) calls visit(abi::Stat*) for every part; it is
// called anew for each pass.
#pragma once
#include "runtime/shared/stat.h"

namespace dj::agent {

// wide / divisor with divisor != 0: the processor's 128-bit division, twice.
inline unsigned __int128 divide(unsigned __int128 wide, uint64_t divisor) {
  auto high = static_cast<uint64_t>(wide >> 64), low = static_cast<uint64_t>(wide);
  uint64_t rest = high % divisor, quotient;
  asm("divq %4" : "=a"(quotient), "=d"(rest) : "0"(low), "1"(rest), "r"(divisor) : "cc");
  return static_cast<unsigned __int128>(high / divisor) << 64 | quotient;
}

// Of a sample, exact while the sum fits 64 bits and the sum of the squares 128: (Q - S*S/n) /
// (n-1).
template <typename Each>
int64_t variance(Each each, const abi::StatShape& shape, const abi::StatTotal& total) {
  if (total.count < 2) return 0;
  unsigned __int128 squares = 0;
  each([&](abi::Stat* part) {
    const uint64_t* words = abi::stat_squares(part, shape);
    squares += static_cast<unsigned __int128>(words[1]) << 64 | words[0];
  });
  auto count = static_cast<uint64_t>(total.count);
  auto sum = static_cast<uint64_t>(total.sum < 0 ? -static_cast<unsigned __int128>(total.sum)
                                                 : static_cast<unsigned __int128>(total.sum));
  unsigned __int128 mean = divide(static_cast<unsigned __int128>(sum) * sum + count - 1, count);
  return squares < mean ? 0 : static_cast<int64_t>(divide(squares - mean, count - 1));
}

inline uint64_t per_mille(uint32_t op) {
  switch (op) {
    case abi::kStatP50:
      return 500;
    case abi::kStatP90:
      return 900;
    case abi::kStatP95:
      return 950;
    case abi::kStatP99:
      return 990;
    default:
      return 999;
  }
}

// The least value that so many of the samples do not exceed: first the group of buckets that it is
// in, then the bucket. The parts may be many, and the stack is the program's.
template <typename Each>
int64_t percentile(Each each, const abi::StatShape& shape, const abi::StatTotal& total,
                   uint32_t op) {
  constexpr uint32_t kGroup = 61, kGroups = abi::kFineBuckets / kGroup;
  static_assert(kGroup * kGroups == abi::kFineBuckets && kGroups <= kGroup);
  uint64_t sums[kGroup] = {};
  each([&](abi::Stat* part) {
    const int64_t* words = abi::stat_fine(part, shape);
    for (uint32_t i = 0; i < abi::kFineBuckets; ++i)
      sums[i / kGroup] += static_cast<uint64_t>(words[i]);
  });
  auto count = static_cast<uint64_t>(total.count), seen = uint64_t{0};
  uint64_t wanted = count / 1000 * per_mille(op) + (count % 1000 * per_mille(op) + 999) / 1000;
  uint32_t group = 0;
  for (; group < kGroups && seen + sums[group] < wanted; ++group) seen += sums[group];
  if (group == kGroups) return total.max;
  for (uint64_t& sum : sums) sum = 0;
  each([&](abi::Stat* part) {
    const int64_t* words = abi::stat_fine(part, shape) + uint64_t{group} * kGroup;
    for (uint32_t i = 0; i < kGroup; ++i) sums[i] += static_cast<uint64_t>(words[i]);
  });
  uint32_t within = 0;
  while (within + 1 < kGroup && seen + sums[within] < wanted) seen += sums[within++];
  int64_t value = abi::fine_value(group * kGroup + within);
  return value < total.min ? total.min : value > total.max ? total.max : value;
}

// A StatOpNumber of all parts together. *empty: there is no sample, and the result is 0.
template <typename Each>
int64_t stat_derived(Each each, const abi::StatShape& shape, uint32_t op, uint32_t* empty) {
  abi::StatTotal total;
  each([&](abi::Stat* part) { total.add(*part); });
  *empty = total.count == 0;
  if (op <= abi::kStatAvg) return total.get(op);
  if (total.count == 0) return 0;
  return op == abi::kStatVariance ? variance(each, shape, total)
                                  : percentile(each, shape, total, op);
}

}  // namespace dj::agent
