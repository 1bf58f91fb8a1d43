// SPDX-License-Identifier: Apache-2.0
// Names that a tapset file keeps to itself: its private globals and functions, and the locals of
// its functions. Whatever a script calls its own variables, it cannot meet them.
#pragma once
#include <set>
#include <string>

#include "compiler/stages/ast.h"

namespace dj {

// What one tapset file declares to be private.
struct PrivateNames {
  std::set<std::string> variables, functions;
};

// Renames the private globals and functions of a tapset file in a part of it, wherever it uses
// them, to spellings that no script can write. `file`: the file's name, for people who meet such a
// name. `names`: those of the file's other parts; the part's own are added.
void hide_private_names(ast::Script& part, const std::string& file, PrivateNames& names);

// The spelling of a private name.
std::string hidden_name(const std::string& name, const std::string& file);

// Renames the locals of the functions and probes behind the first `functions` and `probes`, which
// came from tapset files, where the script in front of them uses the same name. Names in `shared`
// are globals of tapset files and stay.
void part_locals(ast::Script& script, size_t functions, size_t probes,
                 const std::set<std::string>& shared);

}  // namespace dj
