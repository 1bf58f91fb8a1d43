// SPDX-License-Identifier: Apache-2.0
// Effort bounds the processor time that djtap spends on what the journals in one process say. That
// process may have forged any number of journals, such that they ask for much work.
#pragma once
#include <fmt/format.h>
#include <sys/types.h>
#include <time.h>

#include <cstdint>

#include "compiler/base/result.h"

namespace dj {

class Effort {
 public:
  // Begins to count the processor time of this thread. pid: of the process, for the error.
  explicit Effort(pid_t pid) : pid_(pid) {}
  bool is_spent() const { return used_ns() - begin_ns_ > kMostNs; }
  // Fails when the effort is spent.
  Status check() const { return is_spent() ? Status(too_much(pid_)) : ok_status(); }
  static Error too_much(pid_t pid) {
    return Error{
        fmt::format("process {} has memory of earlier sessions that takes too long to "
                    "look through (a program can forge it): djtap leaves the process alone",
                    pid),
        Fail::Unsupported};
  }

 private:
  // 80,000 places and 100 MB of text take 0.1 s.
  static constexpr uint64_t kMostNs = 1'500'000'000;
  static uint64_t used_ns() {
    timespec t = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
  }
  pid_t pid_;
  uint64_t begin_ns_ = used_ns();
};

}  // namespace dj
