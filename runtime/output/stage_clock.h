// SPDX-License-Identifier: Apache-2.0
// StageClock measures the milliseconds of each stage, prints them on stderr with -v, and keeps
// them.
#pragma once
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/printable.h"

namespace dj {

class StageClock {
 public:
  explicit StageClock(bool shown) : shown_(shown), last_(Clock::now()) {}
  // Ends a stage: prints "stage name: 1.2 ms  detail".
  void done(const char* stage, const std::string& detail = "") {
    done(stage, [&] { return detail; });
  }
  // Ends a stage, with a detail that takes time to make. The clock makes it only if it shows it,
  // and counts that time for the next stage.
  template <typename MakeDetail>
  void done(const char* stage, const MakeDetail& make_detail) requires requires {
    make_detail();
  }
  {
    const Clock::time_point now = Clock::now();
    stages_.emplace_back(stage, ms(now - last_));
    last_ = now;
    if (!shown_) return;
    log_line("djtap: {:<8} {:8.1f} ms  {}", stage, stages_.back().second, make_detail());
  }
  // Ended stages with their milliseconds.
  const std::vector<std::pair<std::string, double>>& stages() const { return stages_; }

 private:
  using Clock = std::chrono::steady_clock;
  static double ms(Clock::duration d) {
    return std::chrono::duration<double, std::milli>(d).count();
  }
  bool shown_;
  Clock::time_point last_;
  std::vector<std::pair<std::string, double>> stages_;
};

}  // namespace dj
