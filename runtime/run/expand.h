// SPDX-License-Identifier: Apache-2.0
// What in a script stands for something else becomes that.
#pragma once
#include "compiler/diag/diag.h"
#include "compiler/diag/source.h"
#include "compiler/stages/ast.h"
#include "runtime/command/choices.h"

namespace dj {

// -G's values, aliases and wildcards in the names of points, .latency, what a script says of its
// arguments. Behind TapsetLibrary::complete(). Stops at the first step with errors.
void expand(const ScriptChoices& choices, ast::Script& script, Sources& sources, Diags& diags);

}  // namespace dj
