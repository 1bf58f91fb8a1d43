// SPDX-License-Identifier: Apache-2.0
// process(PID): the traced process by its number.
#pragma once
#include <vector>

#include "compiler/diag/diag.h"
#include "compiler/stages/ast.h"

namespace dj {

// Makes each process(PID) of the points `process`, if that is the process `pid` (0: there is none);
// else `never`, and reports it unless the point may be missing (`?`, `!`). Those of -p are `process`
// already (limited_points.h). more: whether further processes are traced.
void take_process_numbers(std::vector<ast::ProbePoint>& points, int64_t pid, bool more,
                          Diags& diags);

}  // namespace dj
