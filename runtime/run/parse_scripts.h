// SPDX-License-Identifier: Apache-2.0
// parse_scripts() turns the script and those of -E into a tree. print_tidy() prints the tidy text
// of --fmt.
#pragma once
#include <string_view>

#include "compiler/diag/diag.h"
#include "compiler/diag/source.h"
#include "compiler/parse/parse.h"
#include "compiler/stages/ast.h"
#include "runtime/command/choices.h"

namespace dj {

// Returns the script with those of -E behind it, as one script. file: number of the script itself
// in `sources`.
ast::Script parse_scripts(const ScriptChoices& choices, Sources& sources, uint32_t file,
                          const ParseOptions& parsing, Diags& diags);

// Warns of each argument that neither `text`, the script, nor the scripts of -E use: the user meant
// something else, as with the second number of `-p 1 2`.
void warn_of_unused_words(const ScriptChoices& script, const TargetChoices& target,
                          std::string_view text);

// Runs --fmt on file `file`. parsed: what the parser said. Returns the exit code.
int print_tidy(const Sources& sources, uint32_t file, const Diags& parsed);

}  // namespace dj
