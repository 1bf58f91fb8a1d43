// SPDX-License-Identifier: Apache-2.0
// From text to tree: the script and those of -E; and the tidy text of --fmt.
#pragma once
#include <string_view>

#include "compiler/diag/diag.h"
#include "compiler/diag/source.h"
#include "compiler/parse/parse.h"
#include "compiler/stages/ast.h"
#include "runtime/command/choices.h"

namespace dj {

// Those of -E come behind it, as one script. file: of `sources`, the script itself.
ast::Script parse_scripts(const ScriptChoices& choices, Sources& sources, uint32_t file,
                          const ParseOptions& parsing, Diags& diags);

// Warns of each argument that neither `text`, the script, nor those of -E ask for: it was meant
// otherwise, as the second number of `-p 1 2`.
void warn_of_unused_words(const ScriptChoices& script, std::string_view text);

// --fmt. parsed: what the parser said. Returns the exit code.
int print_tidy(const Sources& sources, uint32_t file, const Diags& parsed);

}  // namespace dj
