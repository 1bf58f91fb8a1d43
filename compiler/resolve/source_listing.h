// SPDX-License-Identifier: Apache-2.0
// list_source(): the source of functions, with the lines that can be probed and the variables
// there.
#pragma once
#include <string>

#include "compiler/diag/diag.h"
#include "compiler/resolve/resolve.h"
#include "compiler/stages/ast.h"

namespace dj {

// For each function that the point matches: its source lines, a '*' before those with code of their
// own, then each variable with the lines where it can be read. Source text is read from where the
// debug info says it is, with the rights of the target's user; where it cannot be read, the lines
// with code are listed without their text. Functions without debug info are a mistake (DJ3010).
std::string list_source(const ast::ProbePoint& point, const TargetFiles& files, Diags& diags);

}  // namespace dj
