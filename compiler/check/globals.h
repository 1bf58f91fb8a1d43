// SPDX-License-Identifier: Apache-2.0
// Globals: the declared ones, and the names that the auto-global rule makes global (which
// names those are: below): what `count++` in a probe means without a declaration.
#pragma once
#include "compiler/check/check.h"
#include "compiler/check/notes.h"
#include "compiler/check/uses.h"

namespace dj {

// Fills program.globals (all but the types of numbers and strings, which inference finds),
// notes.globals and notes.facts.globals.
void declare_globals(const ast::Script& script, const Uses& uses, const CheckOptions& options,
                     Program& program, Notes& notes, Diags& diags);

// An undeclared name is global if it can be nothing else (indexed and written somewhere, or fed by
// <<<), or if it only makes sense as one: at least one probe updates it by ++ -- op= with the value
// unused, every body either only updates or only reads it, and no plain = or foreach sets it
// anywhere.
bool is_auto_global(const std::vector<NameUse>& uses, const std::vector<Body>& units);

}  // namespace dj
