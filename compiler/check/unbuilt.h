// SPDX-License-Identifier: Apache-2.0
// Members and elements of what has none: the grammar takes them behind every value.
#pragma once
#include "compiler/diag/diag.h"
#include "compiler/stages/ast.h"

namespace dj {

// Reports each of them at its place. The passes behind it may rely on their absence when the
// diagnostics are ok.
void refuse_unbuilt(const ast::Script& script, Diags& diags);

}  // namespace dj
