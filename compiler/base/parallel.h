// SPDX-License-Identifier: Apache-2.0
// parallel(): the iterations of a loop on all processors.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <optional>
#include <thread>
#include <vector>

#include "compiler/base/spare_thread.h"

namespace dj {

// kChunk of a body that takes less than a microsecond.
constexpr size_t kLightChunk = 1024;

// Calls body(i) for every i < count, in no order, on several threads when there is enough to do.
// body may throw std::bad_alloc only: then this does, when all threads have ended. kChunk: so many
// iterations are one thread's; neighbours in memory, and few enough to balance.
template <size_t kChunk = 64, typename Body>
void parallel(size_t count, const Body& body) {
  constexpr size_t kMost = 16;  // threads
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t begin; (begin = next.fetch_add(kChunk)) < count;) {
      for (size_t i = begin; i < std::min(begin + kChunk, count); i++) body(i);
    }
  };
  const size_t chunks = (count + kChunk - 1) / kChunk;
  std::vector<std::optional<SpareThread>> others;
  static const size_t processors = std::thread::hardware_concurrency();  // reads a file each time
  for (size_t i = 1; i < std::min({chunks, kMost, processors}); i++)
    others.push_back(spare_thread(work));
  work();
  for (std::optional<SpareThread>& other : others) {
    if (other) other->join();
  }
}

// Calls first() and second(), beside each other where they work on so many things that a thread is
// worth its making. They throw as body() of parallel() may.
template <typename First, typename Second>
void both(size_t count, const First& first, const Second& second) {
  constexpr size_t kMany = 2000;
  if (count < kMany) {
    first();
    second();
  } else {
    parallel<1>(2, [&](size_t i) { i == 0 ? first() : second(); });
  }
}

}  // namespace dj
