// SPDX-License-Identifier: Apache-2.0
// -l and -L for probe points of tapsets: syscall.*, sqlite.prepare.
#pragma once
#include <optional>
#include <string>

#include "compiler/diag/diag.h"
#include "compiler/diag/source.h"
#include "runtime/run/lazy_target.h"

namespace dj {

// The names that `points` means and that can be probed in the target, one a line, sorted; without
// a target all of them. With options.list.variables the variables that the aliases set follow,
// "name:string flags:long". Texts are added to `sources`, mistakes in tapset files to `diags`.
// None: no tapset has such a name.
std::optional<std::string> list_aliases(bool with_variables, const ScriptChoices& choices,
                                        const std::vector<ast::ProbePoint>& points,
                                        LazyTarget& target, Sources& sources, Diags& diags);

}  // namespace dj
