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
// Where the command line names no process, and all points of processes name one by its number,
// these processes become the target, as -p makes them: without what they start. may_be_many: else
// one process alone does. Call it behind expand().
void take_named_processes(ast::Script& script, bool may_be_many, TargetChoices& target);
// As expand(), for probes that are added to a script that has its values: `script` has no others.
void expand_added(const TargetChoices& target, const ScriptChoices& choices, ast::Script& script,
                  Sources& sources, Diags& diags);

}  // namespace dj
