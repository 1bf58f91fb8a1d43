// SPDX-License-Identifier: Apache-2.0
// Which target values a probe's body really needs, once @defined(...) is known; and what else it
// asks of a site.
#pragma once
#include <vector>

#include "compiler/stages/program.h"

namespace dj {

// live[t]: some expression that can run reads target t. defined[t]: target t has a value there.
// Branches behind a false @defined do not count.
std::vector<bool> live_targets(const Program& program, const Probe& probe,
                               const std::vector<bool>& defined);
// The same of Program::function_targets.
std::vector<bool> live_function_targets(const Program& program, const std::vector<bool>& defined);
// The same of the functions that the probe calls, whatever is defined there.
std::vector<bool> called_function_targets(const Program& program, const Probe& probe);

// BuiltinFlags of all built-ins that the body, or a function it calls, may call: kSite, whether it
// asks for its site (uaddr(), pp() ...); kName, whether for names of it.
uint32_t builtin_flags(const Program& program, const Probe& probe);

}  // namespace dj
