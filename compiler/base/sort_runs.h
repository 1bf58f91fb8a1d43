// SPDX-License-Identifier: Apache-2.0
// Sorting what mostly is sorted: lists of sites come in memory's order, behind a few others.
#pragma once
#include <algorithm>
#include <functional>

namespace dj {

// As std::stable_sort; two runs that are each sorted take one pass.
template <typename Iterator, typename Before = std::less<>>
void sort_runs(Iterator begin, Iterator end, Before before = {}) {
  const Iterator second = std::is_sorted_until(begin, end, before);
  if (!std::is_sorted(second, end, before)) std::stable_sort(second, end, before);
  std::inplace_merge(begin, second, end, before);
}

}  // namespace dj
