// SPDX-License-Identifier: Apache-2.0
// list(): the probe points a pattern matches, as -l and -L print them.
#pragma once
#include <string>
#include <vector>

#include "compiler/diag/diag.h"
#include "compiler/resolve/resolve.h"
#include "compiler/stages/ast.h"

namespace dj {

// One line each: process("/path").function("name@file:line"). with_variables: followed by the
// variables that are visible there, "$fd:int $buf:char*". Of points with wildcards in their names,
// the forms that they match: timer.* is timer.s(n), timer.ms(n) ..
std::string list(const std::vector<ast::ProbePoint>& points, const TargetFiles& files,
                 bool with_variables, Diags& diags);

// Whether one of the points has a place in the target, or needs none (timers, begin). Without a
// target: whether there are such points.
bool is_somewhere(const std::vector<ast::ProbePoint>& points, const TargetFiles& files);

}  // namespace dj
