// SPDX-License-Identifier: Apache-2.0
// process.begin and process.end run in djtap for the target itself, and in the processes that it
// forks for these: at sites of the C library.
#pragma once
#include <vector>

#include "compiler/stages/plan.h"

namespace dj {

// Site::listed of those sites.
constexpr char kChildBegins[] = "begin", kChildEnds[] = "end";

// Handlers that stand where any process ends; the target's own end is told by djtap.
inline std::vector<bool> handlers_of_children(const Plan& plan) {
  std::vector<bool> found(plan.handlers.size());
  for (const Site& site : plan.sites) {
    if (site.listed != kChildEnds) continue;
    for (HandlerId id : site.handlers) found[id] = true;
  }
  return found;
}

}  // namespace dj
