// SPDX-License-Identifier: Apache-2.0
// Which return handlers want the function's result, or something of its call (@entry, a duration).
// They must not run before a tail call: only where the callee returns is the result known, and only
// then is the call over.
#pragma once
#include <optional>
#include <vector>

#include "compiler/stages/plan.h"

namespace dj {

// By HandlerId: a Body handler of some Return site that reads a result register or keeps its calls
// from the entry on, or of the return of a linkage stub: there is none but the callee's.
std::vector<bool> handlers_of_results(const Plan& plan);

// By HandlerId: those, and those with Handler::shared_exits: at some exits they run only for calls
// that wait there.
std::vector<bool> handlers_that_wait(const Plan& plan);

// By HandlerId: a Body handler whose calls are kept from the entry on.
std::vector<bool> handlers_of_calls(const Plan& plan);

// By HandlerId: the probe of those; nothing: it follows no calls.
std::vector<std::optional<ProbeId>> probes_of_calls(const Plan& plan);

// By HandlerId: whether it runs behind a system call.
std::vector<bool> handlers_of_syscalls(const Plan& plan);

// Whether some handler keeps something of a call until it returns (runtime/shared/capture.h).
bool keeps_calls(const Plan& plan);

}  // namespace dj
