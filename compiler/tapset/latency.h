// The suffix .latency: func("f").latency is func("f").return, with the nanoseconds in `elapsed`.
#pragma once
#include "compiler/ast.h"
#include "compiler/diag.h"
#include "compiler/source.h"

namespace dj {

// Rewrites the points that end in .latency, once aliases are expanded: they become a probe of their
// own, behind what is left of theirs. The script's order stays.
void expand_latency(ast::Script& script, Sources& sources, Diags& diags);

}  // namespace dj
