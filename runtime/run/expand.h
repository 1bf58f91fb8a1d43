// SPDX-License-Identifier: Apache-2.0
// expand() replaces what stands for something else in a script.
#pragma once
#include "compiler/diag/diag.h"
#include "compiler/diag/source.h"
#include "compiler/stages/ast.h"
#include "runtime/command/choices.h"

namespace dj {

// Puts in the values of -G, and expands aliases and wildcards in the names of points, .latency,
// what a script says of its arguments, and the numbers of `target`'s processes.
// Call it behind TapsetLibrary::complete(). Stops at the first step with errors.
void expand(const ScriptChoices& choices, const TargetChoices& target, ast::Script& script,
            Sources& sources, Diags& diags);
// The same for probes that are added to a script that has its values: `script` has no others.
void expand_added(const TargetChoices& target, const ScriptChoices& choices, ast::Script& script,
                  Sources& sources, Diags& diags);

}  // namespace dj
