// SPDX-License-Identifier: Apache-2.0
// --lsp: what an editor is told of scripts (compiler/editor/language_server.h).
#pragma once
#include "runtime/command/choices.h"

namespace dj {

// Serves an editor on standard input and output until it leaves. Scripts are parsed and checked
// with their tapsets, as check_script() does. Returns the exit code.
int serve_scripts(const ScriptChoices& script, const TargetChoices& target, size_t many);

}  // namespace dj
