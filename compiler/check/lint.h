// SPDX-License-Identifier: Apache-2.0
// Lint: warnings about scripts that are right but probably not meant so, and the error of a name
// that stands alone as a statement and is never set.
#pragma once
#include "compiler/check/uses.h"
#include "compiler/diag/diag.h"
#include "compiler/stages/program.h"

namespace dj {

// Locals that are read but never set or set but never read, and probes that do nothing.
void lint(const ast::Script& script, const Uses& uses, const Program& program, Diags& diags);

}  // namespace dj
