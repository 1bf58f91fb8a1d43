// SPDX-License-Identifier: Apache-2.0
// Which target expressions are doubles: known once all their places are.
#pragma once
#include <vector>

#include "compiler/stages/plan.h"

namespace dj {

// By ProbeId, and behind those a row for all functions; by TargetId: true where the expression is a
// double at one place of the probe. It is
// then made one at the others, where it is an int, too. Empty: there is none.
std::vector<std::vector<bool>> settle_doubles(const Program& program, Plan& plan);

}  // namespace dj
