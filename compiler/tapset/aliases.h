// SPDX-License-Identifier: Apache-2.0
// Aliases: probe name = points { prologue }, { epilogue }. Where a probe uses the name, the points
// stand for it and the bodies are put around the probe's own.
#pragma once
#include <functional>
#include <vector>

#include "compiler/diag/diag.h"
#include "compiler/stages/ast.h"

namespace dj {

// The points of djtap's own that one with '*' in its names means.
using OwnPoints = std::function<std::vector<ast::ProbePoint>(const ast::ProbePoint&)>;

// Rewrites every probe that uses an alias of the script; what an alias is made of may be aliases
// again. A point that carries more than the alias's name (name.return) hands the rest on. '*' in
// names means aliases and `own` points alike.
void expand_aliases(ast::Script& script, const OwnPoints& own, Diags& diags);

// Whether `point` begins with the alias's name; '*' in the point matches within one component,
// "**" across them. `used`: how many components of the point the name takes.
bool uses_alias(const ast::ProbePoint& point, const ast::ProbePoint& name, size_t& used);

}  // namespace dj
