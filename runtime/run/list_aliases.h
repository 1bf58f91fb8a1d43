// SPDX-License-Identifier: Apache-2.0
// list_aliases() lists probe points of tapsets for -l and -L: syscall.*, sqlite.prepare.
#pragma once
#include <optional>
#include <string>

#include "compiler/diag/diag.h"
#include "compiler/diag/source.h"
#include "runtime/run/lazy_target.h"

namespace dj {

// Returns the names that `points` means and that djtap can probe in the target, one a line, sorted;
// without a target all names. with_variables: the variables that the aliases set follow,
// "name:string flags:long". Adds texts to `sources`, and mistakes in tapset files to `diags`.
// Empty: no tapset has such a name.
std::optional<std::string> list_aliases(bool with_variables, const ScriptChoices& choices,
                                        const std::vector<ast::ProbePoint>& points,
                                        LazyTarget& target, Sources& sources, Diags& diags);

}  // namespace dj
