// SPDX-License-Identifier: Apache-2.0
// Sums the words behind an aggregate's parts.
#include "runtime/output/stat_value.h"

#include <algorithm>

#include "runtime/agent/stat_derived.h"

namespace dj {
namespace {

struct Derived {
  uint32_t extra, op;
  const char* name;
};
constexpr Derived kDerived[] = {{abi::kStatSquares, abi::kStatVariance, "variance"},
                                {abi::kStatFine, abi::kStatP50, "p50"},
                                {abi::kStatFine, abi::kStatP90, "p90"},
                                {abi::kStatFine, abi::kStatP95, "p95"},
                                {abi::kStatFine, abi::kStatP99, "p99"},
                                {abi::kStatFine, abi::kStatP999, "p999"}};

// The power of two (or its negative) that a logarithmic bucket begins with, as it is drawn.
int64_t log_value(uint32_t bucket) {
  if (bucket == abi::kLogZero) return 0;
  const bool negative = bucket < abi::kLogZero;
  const uint32_t distance = negative ? abi::kLogZero - bucket : bucket - abi::kLogZero;
  const uint32_t bit = std::min(distance, 64u) - 1;  // no sample belongs to bucket 0
  const uint64_t size = uint64_t{1} << bit;
  return static_cast<int64_t>(negative ? 0 - size : size);
}

}  // namespace

StatValue read_stat(const ArenaView& arena, uint64_t first, uint32_t stride, uint32_t rows,
                    const abi::StatShape& shape) {
  const size_t words_each = shape.bytes / sizeof(uint64_t);
  std::vector<uint64_t> copied(words_each * rows);
  for (uint32_t i = 0; i < rows; ++i)
    arena.copy(first + uint64_t{stride} * i, &copied[words_each * i], shape.bytes);
  auto each = [&](auto visit) {
    for (uint32_t i = 0; i < rows; ++i)
      visit(reinterpret_cast<abi::Stat*>(&copied[words_each * i]));
  };
  auto sum = [&](auto words, uint32_t bucket) {
    uint64_t count = 0;
    each([&](const abi::Stat* part) { count += static_cast<uint64_t>(words(part)[bucket]); });
    return static_cast<int64_t>(count);
  };
  StatValue value;
  each([&](const abi::Stat* part) { value.add(*part); });
  for (const Derived& derived : kDerived) {
    if ((shape.extras & derived.extra) == 0 || value.count == 0) continue;
    uint32_t empty = 0;
    value.derived.emplace_back(derived.name, agent::stat_derived(each, shape, derived.op, &empty));
  }
  value.has_log = shape.has_log != 0;
  value.has_linear = shape.linear_count != 0;
  auto log = [](const abi::Stat* part) { return abi::stat_log(part); };
  for (uint32_t i = 0; value.has_log && i < abi::kLogBuckets; ++i) {
    if (const int64_t count = sum(log, i); count != 0) value.log.emplace_back(log_value(i), count);
  }
  auto linear = [&](const abi::Stat* part) { return abi::stat_linear(part, shape); };
  for (uint32_t i = 0; i < shape.linear_count; ++i) {
    const int64_t count = sum(linear, i);
    if (i == 0)
      value.below = count;
    else if (i + 1 == shape.linear_count)
      value.above = count;
    else if (count != 0)
      value.linear.emplace_back(shape.linear_start + int64_t{i - 1} * shape.linear_step, count);
  }
  return value;
}

std::vector<std::pair<const char*, int64_t>> stat_parts(const abi::StatTotal& total) {
  if (total.count == 0) return {{"count", 0}};
  return {{"count", total.count},
          {"min", total.min},
          {"max", total.max},
          {"sum", total.sum},
          {"avg", total.get(abi::kStatAvg)}};
}

}  // namespace dj
