// SPDX-License-Identifier: Apache-2.0
// timer.profile and its forms are samples: they run in threads of the target, not in djtap as the
// other timers.
#pragma once
#include "compiler/stages/plan.h"

namespace dj {

inline bool is_profile(const ast::ProbePoint& point) {
  return point.components.size() > 1 && point.components[0].name == "timer" &&
         point.components[1].name == "profile";
}

// In a Plan a sample is a timer whose handler is a Body: it runs in a frame of its own
// (arch/x86_64/sample.h).
inline bool is_sample(const Handler& handler) {
  return handler.role == Handler::Role::Body && handler.form == Handler::Form::Host;
}
inline bool is_sample(const Plan& plan, const HostProbe& probe) {
  return probe.when == HostProbe::When::Timer && is_sample(plan.handlers[probe.handler]);
}

}  // namespace dj
