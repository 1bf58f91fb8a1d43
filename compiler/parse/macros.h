// SPDX-License-Identifier: Apache-2.0
// The preprocessor: @define macros, %( condition %? then %: else %), script arguments. Works on
// tokens; each keeps the place where it was written, and Span::via tells through which macros it
// came.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/parse/lexeme.h"
#include "compiler/parse/parse.h"

namespace dj {

struct Macro {
  std::vector<std::string> params;
  bool takes_arguments = false;  // @define f() has parentheses and no parameters
  Lexemes body;                  // without an EOF
  Span name_span;
};

// Whether @name is one of the language's own words: no folder of tapsets is scanned for them.
bool is_operator(const std::string& name);

class Preprocessor {
 public:
  Preprocessor(Sources& sources, const ParseOptions& options, Diags& diags)
      : sources_(sources), options_(options), diags_(diags) {}

  // The tokens that the grammar reads. False: an error was reported, the tokens are incomplete.
  bool run(Lexemes& lexemes);

 private:
  using Bindings = std::unordered_map<std::string, Lexemes>;  // parameter to argument
  // A stretch of tokens being expanded, and what its @names may mean.
  struct Scope {
    const Lexemes& in;
    const Bindings* bindings;
    uint32_t via;
  };

  // Each takes the tokens from `i` on and returns the index behind what it used.
  bool expand(const Scope& scope, size_t begin, size_t end, Lexemes& out);
  // At an @name: a definition, a use of a macro, a parameter; what is none of these stays.
  size_t word(const Scope& scope, size_t i, size_t end, Lexemes& out);
  size_t define(const Scope& scope, size_t i, size_t end);
  size_t call(const Scope& scope, size_t i, size_t end, const Macro& macro, Lexemes& out);
  size_t conditional(const Scope& scope, size_t i, size_t end, Lexemes& out);
  // The arguments between the parenthesis at `open` and its counterpart, whose place it returns;
  // `end`: it has none.
  size_t split_arguments(const Scope& scope, size_t open, size_t end, std::vector<Lexemes>& given);
  // Behind a use's arguments; nullopt: they are wrong (reported).
  std::optional<size_t> arguments(const Scope& scope, size_t open, size_t end, const Macro& macro,
                                  Bindings& bindings);
  // Reads the macro file of that name if it must; null: there is no such macro.
  const Macro* find(const std::string& name);
  void fail(const char* code, Span span, const std::string& message, const std::string& help = "");
  // The lexeme with the macros through which it came.
  static Lexeme placed(const Lexeme& lexeme, const Scope& scope);

  Sources& sources_;
  const ParseOptions& options_;
  Diags& diags_;
  std::unordered_map<std::string, Macro> macros_;
  std::unordered_set<std::string> active_;  // being expanded: a macro cannot use itself
  std::unordered_set<uint32_t> loaded_;     // macro files that were read
  size_t depth_ = 0;                        // of stretches within each other
  size_t made_ = 0;                         // tokens so far, against macros that double and double
  bool ok_ = true;
};

// Whether the condition of a %( ... %) holds; nullopt: reported. The tokens have no EOF.
std::optional<bool> holds(const Lexemes& condition, Span place, Diags& diags);

// Replaces one $1, @1, $# or @# by the script's argument; false: reported.
bool paste_argument(const Lexeme& lexeme, const std::vector<std::string>& args, Lexemes& out,
                    Diags& diags);

}  // namespace dj
