// SPDX-License-Identifier: Apache-2.0
// What a script uses that it does not define: functions, and points that may be aliases.
#pragma once
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/stages/ast.h"

namespace dj {

struct NamesUsed {
  std::set<std::string> functions;  // neither built in nor defined in the script
  std::vector<const ast::ProbePoint*> points;
  size_t whole = 0;  // the first so many are of probes; others are of aliases, which may be longer
  bool texts = false;               // of values: $x$, $$parms$
  std::set<std::string> variables;  // that it does not declare; its locals are among them
  // Functions of the script that may go on by `next`: name and number of parameters.
  std::set<std::pair<std::string, size_t>> continued;
};

NamesUsed names_used(const ast::Script& script);

}  // namespace dj
