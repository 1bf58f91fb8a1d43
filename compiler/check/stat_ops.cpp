// SPDX-License-Identifier: Apache-2.0
// Tables of the @operators.
#include "compiler/check/stat_ops.h"

#include <algorithm>
#include <array>

namespace dj {
namespace {

constexpr std::array<std::string_view, 11> kStatOps = {
    "count", "sum", "min", "max", "avg", "variance", "p50", "p90", "p95", "p99", "p999"};
constexpr std::array<std::string_view, 3> kHistograms = {"hist_log", "hist_linear", "hist"};
constexpr std::array<std::string_view, 6> kUnbuilt = {"perf",      "const", "kderef",
                                                      "kregister", "task",  "module"};

}  // namespace

std::optional<StatOp> stat_op(std::string_view name) {
  const auto* found = std::find(kStatOps.begin(), kStatOps.end(), name);
  if (found == kStatOps.end()) return std::nullopt;
  return static_cast<StatOp>(found - kStatOps.begin());
}

std::string_view stat_op_name(StatOp op) { return kStatOps[static_cast<size_t>(op)]; }

bool is_histogram(std::string_view name) {
  return std::find(kHistograms.begin(), kHistograms.end(), name) != kHistograms.end();
}

bool is_unbuilt_at(std::string_view name) {
  return std::find(kUnbuilt.begin(), kUnbuilt.end(), name) != kUnbuilt.end();
}

std::vector<std::string> known_at_names() {
  std::vector<std::string> names(kStatOps.begin(), kStatOps.end());
  names.insert(names.end(), kHistograms.begin(), kHistograms.end());
  names.insert(names.end(), {"defined", "choose_defined", "var", "cast", "entry", "exit",
                             "probewrite", "uderef", "uregister"});
  return names;
}

}  // namespace dj
