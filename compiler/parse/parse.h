// SPDX-License-Identifier: Apache-2.0
// parse(): script text to ast::Script. Nothing outside this room sees ANTLR.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/diag/diag.h"
#include "compiler/diag/source.h"
#include "compiler/parse/script_options.h"
#include "compiler/stages/ast.h"

namespace dj {

// Bytes [begin, end) of a text whose file is known.
struct TextPart {
  size_t begin = 0, end = 0;
};

struct ParseOptions {
  std::vector<std::string> args;  // $1 and @1 are args[0]
  // The file of `sources` that defines a macro which the script does not; nullopt: none does.
  std::function<std::optional<uint32_t>(const std::string& macro)> macro_file;
  ScriptOptions* script_options = nullptr;  // null: every option(...) is its default
  // Only these of the text, in their order; none: all of it.
  std::vector<TextPart> parts;
};

// Reads file number `file`; the uses of its macros are added to `sources`. Mistakes go to `diags`,
// at most one per probe, function or global; the result is complete only when diags.ok().
ast::Script parse(Sources& sources, uint32_t file, const ParseOptions& options, Diags& diags);

// The tokens as the parser sees them, one per line: "line:column KIND text".
std::string dump_tokens(Sources& sources, uint32_t file, const ParseOptions& options);

}  // namespace dj
