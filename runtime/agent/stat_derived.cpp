// SPDX-License-Identifier: Apache-2.0
// What is computed from the words behind an aggregate: variance, percentiles, single buckets.
#include "runtime/agent/stat_derived.h"

#include "runtime/agent/arena.h"
#include "runtime/shared/entries.h"

using namespace dj;

namespace {

// The rows of a scalar aggregate, or one element's Stat (stride 0; null: there is none).
struct Rows {
  const abi::Stat* first;
  uint32_t stride;
  uint32_t count() const {
    return first == nullptr ? 0 : stride == 0 ? 1 : agent::arena()->cpus + 1;
  }
  abi::Stat* operator[](uint32_t i) const {
    return const_cast<abi::Stat*>(abi::stat_row(first, stride, i));
  }
};

}  // namespace

int64_t dj_stat_derived(const abi::Stat* rows, uint32_t stride, const abi::StatShape* shape,
                        uint32_t op, uint32_t* empty) {
  Rows all = {rows, stride};
  auto each = [&](auto visit) {
    for (uint32_t i = 0; i < all.count(); ++i) visit(all[i]);
  };
  return agent::stat_derived(each, *shape, op, empty);
}

// Logarithmic buckets are numbered as SystemTap's: 64 is the value 0, 65 the value 1, 66 is 2
// and 3.
int64_t dj_stat_bucket(const abi::Stat* rows, uint32_t stride, const abi::StatShape* shape,
                       uint32_t linear, int64_t index, uint32_t* bad) {
  Rows all = {rows, stride};
  *bad = index < 0 || index >= (linear ? int64_t{shape->linear_count} : abi::kLogShown);
  uint64_t sum = 0;
  for (uint32_t i = 0; i < all.count() && !*bad; ++i) {
    const int64_t* words = linear ? abi::stat_linear(all[i], *shape) : abi::stat_log(all[i]) + 1;
    sum += static_cast<uint64_t>(words[index]);
  }
  return static_cast<int64_t>(sum);
}
