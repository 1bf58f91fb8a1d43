// SPDX-License-Identifier: Apache-2.0
// serve_scripts() runs --lsp: it tells an editor about scripts (compiler/editor/language_server.h).
#pragma once
#include "runtime/command/choices.h"

namespace dj {

// Serves an editor on standard input and output until it leaves. Parses and checks scripts with
// their tapsets, like check_script(). Returns the exit code.
int serve_scripts(const ScriptChoices& script, const TargetChoices& target, size_t many);

}  // namespace dj
