// SPDX-License-Identifier: Apache-2.0
// check: Script -> Program. Binds every name to an id and gives every expression its type.
#pragma once
#include "compiler/diag/diag.h"
#include "compiler/stages/ast.h"
#include "compiler/stages/program.h"

namespace dj {

// Which target expressions are doubles: by ProbeId, by TargetId. Empty: none.
using DoubleTargets = std::vector<std::vector<bool>>;

struct CheckOptions {
  bool strict = false;  // no auto-globals: every global must be declared
  DoubleTargets doubles = {};  // as resolve found them out (compiler/resolve/double_targets.h)
};

// Reports all mistakes it finds to `diags`, each cause once. The Program may be used by later
// stages only while diags.ok().
Program check(const ast::Script& script, const CheckOptions& options, Diags& diags);

}  // namespace dj
