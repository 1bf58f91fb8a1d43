// SPDX-License-Identifier: Apache-2.0
// PrintRecord: one output of a handler as data, for those who do not write it as text.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace dj {

struct PrintRecord {
  int64_t time_ns = 0;     // CLOCK_REALTIME, when the handler printed
  // Of the process and thread that printed, as pid() and tid() say it; of handlers that djtap runs
  // itself the target's (0: none) and 0.
  int64_t pid = 0, tid = 0;
  std::string_view probe;  // the function, or "timer.s(1)"
  std::string_view kind;   // "entry", "return", "statement", "host"
  std::string text;        // what -f text writes
  std::vector<std::variant<int64_t, double, std::string_view>>
      args;  // of print, without text of the format
};

// Takes each output in the order of time. The views live until it returns.
using RecordSink = std::function<void(const PrintRecord&)>;

}  // namespace dj
