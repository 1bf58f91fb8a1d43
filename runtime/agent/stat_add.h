// SPDX-License-Identifier: Apache-2.0
// stat_add adds one sample to one Stat, of a scalar or of an element of an array.
#pragma once
#include "runtime/agent/arena.h"
#include "runtime/shared/stat.h"

namespace dj::agent {

// Each retry means that another thread came closer to the extreme.
inline void lower_word(int64_t* word, int64_t code, int64_t flip) {
  int64_t seen = __atomic_load_n(word, __ATOMIC_RELAXED);
  while ((code ^ flip) < (seen ^ flip)) {
    if (__atomic_compare_exchange_n(word, &seen, code, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      return;
  }
}
inline void raise_word(int64_t* word, int64_t code, int64_t flip) {
  int64_t seen = __atomic_load_n(word, __ATOMIC_RELAXED);
  while ((code ^ flip) > (seen ^ flip)) {
    if (__atomic_compare_exchange_n(word, &seen, code, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      return;
  }
}

// How words of a Stat that others may change meanwhile are added to.
struct LockedAdd {
  void operator()(int64_t* word, int64_t n) const { __atomic_fetch_add(word, n, __ATOMIC_RELAXED); }
};

template <typename Add>
inline void stat_add(abi::Stat* stat, const abi::StatShape& shape, int64_t sample, Add add) {
  add(&stat->count, 1);
  add(&stat->sum, sample);
  lower_word(&stat->min_word, sample ^ INT64_MAX, INT64_MAX);
  raise_word(&stat->max_word, sample ^ INT64_MIN, INT64_MIN);
  if (shape.has_log) add(abi::stat_log(stat) + abi::log_bucket(sample), 1);
  if (shape.linear_count != 0)
    add(abi::stat_linear(stat, shape) + abi::linear_bucket(shape, sample), 1);
  if (shape.extras & abi::kStatSquares) {
    uint64_t size = sample < 0 ? 0 - static_cast<uint64_t>(sample) : static_cast<uint64_t>(sample);
    unsigned __int128 square = static_cast<unsigned __int128>(size) * size;
    uint64_t* words = abi::stat_squares(stat, shape);
    auto low = static_cast<uint64_t>(square);
    uint64_t before = __atomic_fetch_add(&words[0], low, __ATOMIC_RELAXED);
    uint64_t high = static_cast<uint64_t>(square >> 64) + (before + low < low);
    if (high != 0) __atomic_fetch_add(&words[1], high, __ATOMIC_RELAXED);
  }
  if (shape.extras & abi::kStatFine) add(abi::stat_fine(stat, shape) + abi::fine_bucket(sample), 1);
}

inline void stat_add(abi::Stat* stat, const abi::StatShape& shape, int64_t sample) {
  stat_add(stat, shape, sample, LockedAdd{});
}

}  // namespace dj::agent
