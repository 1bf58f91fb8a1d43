// SPDX-License-Identifier: Apache-2.0
// The names by which SystemTap's scripts find their arguments, besides $1 @1 $# @#: argc, argv[1],
// argv_1.
#pragma once
#include <string>
#include <vector>

#include "compiler/diag/diag.h"
#include "compiler/diag/source.h"
#include "compiler/stages/ast.h"

namespace dj {

// Declares those that the script reads and does not have itself as globals with the `words` behind
// it, as texts; argc is their number. What is not there is "".
void add_script_words(ast::Script& script, const std::vector<std::string>& words, Sources& sources,
                      Diags& diags);

}  // namespace dj
