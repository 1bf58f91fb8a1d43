// SPDX-License-Identifier: Apache-2.0
// warn_of_many() warns of a pattern that means more places than its author is likely to have had in
// mind.
#pragma once
#include "compiler/diag/diag.h"
#include "compiler/stages/plan.h"
#include "compiler/stages/program.h"

namespace dj {

// Warns of the probes with a wildcard that mean more than `most` places; 0: of none.
void warn_of_many(const Program& program, const Plan& plan, size_t most, Diags& diags);

}  // namespace dj
