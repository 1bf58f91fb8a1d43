// SPDX-License-Identifier: Apache-2.0
// RateLimit limits how often djtap does something that a traced program can ask for as often as it
// likes.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>

namespace dj {

class RateLimit {
 public:
  // Allows `burst` at once, then `per_second`.
  RateLimit(double burst, double per_second)
      : burst_(burst), per_second_(per_second), left_(burst), looked_(Clock::now()) {}
  // Whether djtap may do it now; counts refusals.
  bool allow() {
    const Clock::time_point now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - looked_).count();
    looked_ = now;
    left_ = std::min(burst_, left_ + seconds * per_second_);
    if (left_ < 1) return ++refused_, false;
    left_ -= 1;
    return true;
  }
  // Returns how often allow() has refused.
  uint64_t refused() const { return refused_; }

 private:
  using Clock = std::chrono::steady_clock;
  double burst_, per_second_, left_;
  Clock::time_point looked_;
  uint64_t refused_ = 0;
};

}  // namespace dj
