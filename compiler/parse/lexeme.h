// SPDX-License-Identifier: Apache-2.0
// Lexeme: one token as plain data, and the filters that stand between lexer and parser. Each filter
// returns false when it reported an error after which the next one has no firm ground.
#pragma once
#include <string>
#include <vector>

#include "DjtLexer.h"
#include "DjtParser.h"
#include "compiler/diag/diag.h"
#include "compiler/diag/source.h"
#include "compiler/parse/keywords.h"
#include "compiler/parse/script_options.h"

namespace dj {

// Always ends a Lexemes; its span is empty, behind the last real token.
struct Lexeme {
  size_t type = antlr4::Token::EOF;
  Span span;         // where the user wrote it; for a pasted argument, where $1 stands
  std::string text;  // as written (or as pasted)
  bool pasted = false;
};
using Lexemes = std::vector<Lexeme>;

// Text to tokens, blanks left out.
enum class Comments : uint8_t { Drop, Keep };
Lexemes lex(std::string_view text, uint32_t file, Comments comments = Comments::Drop);
// Reports characters, strings and comments that are no tokens.
bool check_lexemes(const Lexemes& lexemes, Diags& diags);
// option("name", default, "help") becomes its value; `wanted` (may be null) gets what is declared.
bool fill_options(Lexemes& lexemes, ScriptOptions* wanted, Diags& diags);
// Reports embedded C, which may stand where a conditional leaves it out.
bool check_embedded(const Lexemes& lexemes, Diags& diags);
// Gives the '<' and '>' around a probe's body tokens of their own.
bool mark_angle_bodies(Lexemes& lexemes, Diags& diags);
// Every bracket has its partner, and nesting is bounded.
bool check_brackets(const Lexemes& lexemes, Diags& diags);
// Tells tokens apart by what stands before them: '-' as sign or subtraction, '(' as call ...
void retag(Lexemes& lexemes);
// No expression is so long that reading it would exhaust the stack.
bool check_chains(const Lexemes& lexemes, Diags& diags);

// The grammar's name of a token type, "ANGLE_OPEN", and its spelling if it has only one, "'{'".
std::string symbolic_name(size_t type);
std::string literal_name(size_t type);
// Whether the token is one of the language's keywords.
bool is_keyword(size_t type);

}  // namespace dj
