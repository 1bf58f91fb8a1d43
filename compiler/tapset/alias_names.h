// SPDX-License-Identifier: Apache-2.0
// What aliases are called, and which variables they set: for -l and -L.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "compiler/stages/ast.h"

namespace dj {

struct AliasName {
  std::string name;                 // "syscall.open.return"
  std::set<std::string> variables;  // that its bodies set, and those of the aliases it stands for
};

// The names of the script's aliases that `point` means, with what it adds to them (.return),
// sorted, each once.
std::vector<AliasName> aliases_meant(const ast::ProbePoint& point, const ast::Script& script);

}  // namespace dj
