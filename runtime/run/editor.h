// SPDX-License-Identifier: Apache-2.0
// --lsp: what an editor is told of scripts (compiler/editor/language_server.h).
#pragma once
#include "runtime/command/options.h"

namespace dj {

// Serves an editor on standard input and output until it leaves. Scripts are parsed and checked
// with their tapsets; what a target would say of them (functions, variables) is not asked. Returns
// the exit code.
int serve_scripts(const Options& options);

}  // namespace dj
