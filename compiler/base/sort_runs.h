// Sorting what mostly is sorted: lists of sites come in memory's order, behind a few others.
#pragma once
#include <algorithm>

namespace dj {

// As std::sort; two runs that are each sorted take one pass.
template <typename Iterator>
void sort_runs(Iterator begin, Iterator end) {
  const Iterator second = std::is_sorted_until(begin, end);
  if (!std::is_sorted(second, end)) std::sort(second, end);
  std::inplace_merge(begin, second, end);
}

}  // namespace dj
