// SPDX-License-Identifier: Apache-2.0
// Chains: "a + b + ..." and "!!!...a" nest without brackets, one level per operator, and the stages
// behind the parser walk them recursively. A limit that no person reaches keeps the stack whole.
#include "compiler/parse/lexeme.h"

namespace dj {

namespace {

constexpr size_t kMaxOperators = 1000;  // in one expression
constexpr size_t kMaxElse = 1000;       // in one function or probe

bool separates(size_t type) {
  return type == DjtParser::SEMICOLON || type == DjtParser::COMMA || type == DjtParser::LBRACE ||
         type == DjtParser::RBRACE || is_keyword(type) || type == DjtParser::RETURN_VALUE;
}

bool is_operand(size_t type) {
  return type == DjtParser::ID || type == DjtParser::NUMBER || type == DjtParser::FRACTION ||
         type == DjtParser::STRING || type == DjtParser::TARGET;
}

bool is_bracket(size_t type) {
  return type == DjtParser::RPAREN || type == DjtParser::RBRACKET || type == DjtParser::LPAREN ||
         type == DjtParser::CALL_OPEN || type == DjtParser::INDEX_OPEN;
}

}  // namespace

bool check_chains(const Lexemes& lexemes, Diags& diags) {
  size_t operators = 0, elses = 0, unbraced = 0;
  size_t before = antlr4::Token::EOF;
  for (const Lexeme& lexeme : lexemes) {
    size_t type = lexeme.type;
    bool head = type == DjtParser::IF || type == DjtParser::WHILE || type == DjtParser::FOR ||
                type == DjtParser::FOREACH;
    elses = type == DjtParser::PROBE || type == DjtParser::FUNCTION
                ? 0
                : elses + (type == DjtParser::ELSE);
    unbraced = type == DjtParser::LBRACE || type == DjtParser::RBRACE ? 0 : unbraced + head;
    if (separates(type) || (is_operand(type) && is_operand(before))) {
      operators = 0;
    } else if (!is_operand(type) && !is_bracket(type)) {
      ++operators;
    }
    if (operators > kMaxOperators || elses > kMaxElse || unbraced > kMaxElse) {
      diags.error("DJ1022", lexeme.span,
                  operators > kMaxOperators ? "this expression has too many operators"
                                            : "statements are nested too deeply");
      return false;
    }
    before = type;
  }
  return true;
}

}  // namespace dj
