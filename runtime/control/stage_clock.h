// StageClock: milliseconds per stage on stderr, for -v.
#pragma once
#include <fmt/format.h>

#include <chrono>
#include <cstdio>

namespace dj {

class StageClock {
 public:
  explicit StageClock(bool shown) : shown_(shown), start_(Clock::now()), last_(start_) {}
  // Ends a stage: prints "stage name: 1.2 ms  detail".
  void done(const char* stage, const std::string& detail = "") {
    Clock::time_point now = Clock::now();
    if (shown_) fmt::print(stderr, "djtap: {:<8} {:8.1f} ms  {}\n", stage, ms(now - last_), detail);
    last_ = now;
  }
  double total_ms() const { return ms(Clock::now() - start_); }

 private:
  using Clock = std::chrono::steady_clock;
  static double ms(Clock::duration d) {
    return std::chrono::duration<double, std::milli>(d).count();
  }
  bool shown_;
  Clock::time_point start_, last_;
};

}  // namespace dj
