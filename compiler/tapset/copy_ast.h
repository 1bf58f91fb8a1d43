// SPDX-License-Identifier: Apache-2.0
// Deep copies of syntax, for bodies that an alias puts into several probes. Spans stay.
#pragma once
#include "compiler/stages/ast.h"

namespace dj::ast {

ExprPtr copy(const Expr& expr);
StmtPtr copy(const Stmt& stmt);

}  // namespace dj::ast
