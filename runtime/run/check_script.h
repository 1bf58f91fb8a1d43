// SPDX-License-Identifier: Apache-2.0
// A script as far as it can be verdicts before it runs: parsed, completed by tapsets, checked, and
// its probe points and variables looked up if the command line names a target.
#pragma once
#include <functional>

#include "compiler/diag/diag.h"
#include "compiler/diag/source.h"
#include "runtime/command/choices.h"

namespace dj {

// Tells what is wrong with file `file` of `sources`. A name that ends in .stp is strict, as in
// SystemTap. -c's command is started, read while it stands before its first instruction, and
// killed.
// many: of more places of one pattern it warns.
void check_script(const ScriptChoices& choices, const TargetChoices& wanted, size_t many,
                  Sources& sources, uint32_t file, Diags& diags);

// check_script() for scripts of one command line.
using CheckText = std::function<void(Sources& sources, uint32_t file, Diags& diags)>;

}  // namespace dj
