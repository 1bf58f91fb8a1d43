// SPDX-License-Identifier: Apache-2.0
// PrintRecord holds one output of a handler as data, for a RecordSink that does not write it as
// text.
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
  // The process and thread that printed, as pid() and tid() give them. For handlers that djtap runs
  // itself: the target's pid (0: there is no target) and 0.
  int64_t pid = 0, tid = 0;
  std::string_view probe;  // the function, or "timer.s(1)"
  std::string_view kind;   // "entry", "return", "statement", "host"
  std::string text;        // what -f text writes
  std::vector<std::variant<int64_t, double, std::string_view>>
      args;  // of print(), without the text of the format
};

// RecordSink takes each output in the order of time. The views live until it returns.
using RecordSink = std::function<void(const PrintRecord&)>;

}  // namespace dj
