// SPDX-License-Identifier: Apache-2.0
// check_script() checks a script as far as djtap can before it runs: it parses it, completes it by
// tapsets and checks it, and looks up its probe points and variables if the command line names a
// target.
#pragma once
#include <functional>

#include "compiler/diag/diag.h"
#include "compiler/diag/source.h"
#include "runtime/command/choices.h"

namespace dj {

// Adds what is wrong with file `file` of `sources` to `diags`. A file whose name ends in .stp is
// strict, as in SystemTap. Starts the command of -c, reads it while it stands before its first
// instruction, and kills it. many: check_script() warns if one pattern means more places.
void check_script(const ScriptChoices& choices, const TargetChoices& wanted, size_t many,
                  Sources& sources, uint32_t file, Diags& diags);

// CheckText is check_script() for the scripts of one command line.
using CheckText = std::function<void(Sources& sources, uint32_t file, Diags& diags)>;

}  // namespace dj
