// SPDX-License-Identifier: Apache-2.0
// Bind: the first pass over the bodies. AST in, Program tree out: every name an id, every form
// checked, types still open. Mistakes become diagnostics; what stands in their place is poison().
#pragma once
#include "compiler/check/notes.h"

namespace dj {

// Declares all functions (so that calls may come before), then binds every body.
void bind(const ast::Script& script, Program& program, Notes& notes, Diags& diags);

}  // namespace dj
