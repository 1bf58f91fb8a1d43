// SPDX-License-Identifier: Apache-2.0
// process(PID): other processes that are traced, and what the process has forked, have the places
// of such a point, too, and their hits are left out.
#pragma once
#include <cstdint>
#include <map>

#include "compiler/stages/ast.h"

namespace dj {

// Rewrites the points that name a process by a number of `own`; call it once aliases are expanded.
// Each becomes `process` alone. Points of one number move into a probe of their own, which stands
// behind the one that they were in. Its body begins with a test: where pid() is not own.at(number),
// the probe does nothing. Points with other numbers stay as they are.
void limit_to_processes(ast::Script& script, const std::map<int64_t, int64_t>& own);

}  // namespace dj
