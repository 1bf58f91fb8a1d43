// SPDX-License-Identifier: Apache-2.0
// Which globals hold pointers: known once target variables have their types.
#pragma once
#include "compiler/stages/plan.h"
#include "compiler/stages/program.h"

namespace dj {

// Sets Global::pointers: of values and keys to which nothing but pointers of the program (and 0)
// is ever assigned.
void mark_pointers(Program& program, const Plan& plan);

}  // namespace dj
