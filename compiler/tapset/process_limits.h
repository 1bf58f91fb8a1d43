// SPDX-License-Identifier: Apache-2.0
// process(PID): other processes that are traced, and what the process has forked, have the places of
// such a point, too, and their hits are left out.
#pragma once
#include <cstdint>
#include <map>

#include "compiler/stages/ast.h"

namespace dj {

// Rewrites the points that name a process by a number of `own`, once aliases are expanded:
// `process` alone, in a probe of their own, right behind what is left of theirs, that does nothing
// where pid() is not own.at(number). Other numbers stay.
void limit_to_processes(ast::Script& script, const std::map<int64_t, int64_t>& own);

}  // namespace dj
