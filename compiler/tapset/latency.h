// SPDX-License-Identifier: Apache-2.0
// The suffix .latency: func("f").latency is func("f").return, with the nanoseconds in `elapsed`.
#pragma once
#include "compiler/diag/diag.h"
#include "compiler/diag/source.h"
#include "compiler/stages/ast.h"

namespace dj {

// Rewrites the points that end in .latency, once aliases are expanded: they become a probe of their
// own, behind what is left of theirs. The script's order stays.
void expand_latency(ast::Script& script, Sources& sources, Diags& diags);

}  // namespace dj
