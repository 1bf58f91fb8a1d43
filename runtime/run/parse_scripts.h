// SPDX-License-Identifier: Apache-2.0
// From text to tree: the script and those of -E; and the tidy text of --fmt.
#pragma once
#include "compiler/diag/diag.h"
#include "compiler/diag/source.h"
#include "compiler/parse/parse.h"
#include "compiler/stages/ast.h"
#include "runtime/command/options.h"

namespace dj {

// Those of -E come behind it, as one script. file: of `sources`, the script itself.
ast::Script parse_scripts(const Options& options, Sources& sources, uint32_t file,
                          const ParseOptions& parsing, Diags& diags);

// --fmt. parsed: what the parser said. Returns the exit code.
int print_tidy(const Options& options, const Sources& sources, uint32_t file, const Diags& parsed);

}  // namespace dj
