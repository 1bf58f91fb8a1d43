// SPDX-License-Identifier: Apache-2.0
// One warning for each reason.
#include "runtime/run/unprobed.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <utility>

#include "compiler/base/counted.h"
#include "runtime/output/messages.h"

namespace dj {
namespace {

constexpr const char* kNumber = "process {}";  // stands in a reason for "process 1234"

void replace(std::string& text, const std::string& what, const std::string& by) {
  if (const size_t at = text.find(what); at != text.npos) text.replace(at, what.size(), by);
}

// "; the same for 3 others: 12, 13, 14"
std::string and_others(std::span<const int> others) {
  constexpr size_t kMostNamed = 10;
  if (others.empty()) return "";
  return fmt::format("; the same for {}: {}{}", counted(others.size(), "other"),
                     fmt::join(others.first(std::min(others.size(), kMostNamed)), ", "),
                     others.size() > kMostNamed ? " ..." : "");
}

}  // namespace

void UnprobedProcesses::add(int pid, const Error& why) {
  if (!pids_.insert(pid).second) return;
  std::string reason = why.message;
  replace(reason, fmt::format("process {}", pid), kNumber);
  new_[reason].push_back(pid);
}

void UnprobedProcesses::report() {
  for (const auto& [reason, pids] : std::exchange(new_, {})) {
    if (!told_.insert(reason).second) continue;
    std::string text = reason;
    replace(text, kNumber, fmt::format("process {}", pids.front()));
    report_warning("DJ5914", fmt::format("process {} is not probed: {}{}", pids.front(), text,
                                         and_others(std::span(pids).subspan(1))));
  }
}

}  // namespace dj
