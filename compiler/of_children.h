// process.begin and process.end run in djtap for the target itself, and in the processes that it
// forks for these: at sites of the C library.
#pragma once
#include <algorithm>

#include "compiler/plan.h"

namespace dj {

// Site::listed of those sites.
constexpr char kChildBegins[] = "begin", kChildEnds[] = "end";

// The handler stands where any process ends, and the target's own end is told by djtap.
inline bool is_of_children_alone(const Plan& plan, HandlerId id) {
  return std::any_of(plan.sites.begin(), plan.sites.end(), [id](const Site& site) {
    return site.listed == kChildEnds &&
           std::find(site.handlers.begin(), site.handlers.end(), id) != site.handlers.end();
  });
}

}  // namespace dj
