// SPDX-License-Identifier: Apache-2.0
// Which target expressions are doubles: known once all their places are.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "compiler/stages/plan.h"

namespace dj {

// By ProbeId, and behind those a row for all functions; by TargetId: true where the expression is a
// double at one place of the probe. It is then made one at the others, where it is an int, too.
// Empty: there is none.
std::vector<std::vector<bool>> settle_doubles(const Program& program, Plan& plan);

// Makes the expressions of a later plan what the program has been checked for. doubles: what
// settle_doubles() gave then. An int becomes a double; a double that is taken for an int is cut.
// Returns the names of those that are cut, each once.
std::set<std::string> follow_doubles(const Program& program,
                                     const std::vector<std::vector<bool>>& doubles, Plan& plan);

}  // namespace dj
