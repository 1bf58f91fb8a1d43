// SPDX-License-Identifier: Apache-2.0
// -G NAME=VALUE: the initial value of a global, from the command line.
#pragma once
#include <string>
#include <vector>

#include "compiler/diag/diag.h"
#include "compiler/stages/ast.h"

namespace dj {

// Each setting takes the place of the initial value that the script gives. Mistakes point into the
// setting, which becomes a text of `sources`.
void set_globals(ast::Script& script, const std::vector<std::string>& settings, Sources& sources,
                 Diags& diags);

}  // namespace dj
