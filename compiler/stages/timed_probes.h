// SPDX-License-Identifier: Apache-2.0
// TimedProbes names the globals in which the probes of a program measure themselves (-t).
#pragma once
#include <optional>
#include <vector>

#include "compiler/stages/program.h"

namespace dj {

struct TimedProbes {
  std::vector<GlobalId> times;         // aggregates of cycles, by ProbeId
  std::optional<GlobalId> by_process;  // the same of all probes, by pid(); empty: not asked for
};
// Of by_process: those that came last.
constexpr int64_t kMostTimedProcesses = 4096;

}  // namespace dj
