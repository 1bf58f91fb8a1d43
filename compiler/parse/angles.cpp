// SPDX-License-Identifier: Apache-2.0
// Bodies in angle brackets: probe begin < count++ >. Behind a probe's point list a '<' can mean
// nothing else; inside, the first '>' outside all brackets closes. (">>", ">=" and "->" are tokens
// of their own.)
#include "compiler/parse/lexeme.h"

namespace dj {

namespace {

bool opens(size_t type) {
  return type == DjtParser::LPAREN || type == DjtParser::LBRACKET || type == DjtParser::LBRACE;
}

bool closes_inside(size_t type) {
  return type == DjtParser::RPAREN || type == DjtParser::RBRACKET || type == DjtParser::RBRACE;
}

// A '{' behind one of these is part of a probe point, {entry,return}, and not a body.
bool continues_point_list(size_t type) {
  return type == DjtParser::PROBE || type == DjtParser::COMMA || type == DjtParser::DOT ||
         type == DjtParser::ASSIGN || type == DjtParser::ADD_ASSIGN || type == DjtParser::LBRACE;
}

bool is_name_part(const Lexemes& lexemes, size_t i) {
  return i > 0 &&
         (lexemes[i - 1].type == DjtParser::DOT || lexemes[i - 1].type == DjtParser::ARROW);
}

// From the token behind 'probe' to the one that ends the point list.
size_t skip_point_list(const Lexemes& lexemes, size_t i) {
  int depth = 0;
  for (; lexemes[i].type != antlr4::Token::EOF; ++i) {
    size_t type = lexemes[i].type;
    if (depth == 0 && (type == DjtParser::LT || type == DjtParser::PROBE ||
                       (type == DjtParser::LBRACE && !continues_point_list(lexemes[i - 1].type)))) {
      return i;
    }
    depth += opens(type) ? 1 : closes_inside(type) ? -1 : 0;
    if (depth < 0) {
      return i;
    }
  }
  return i;
}

// From the token behind '<' to the '>' that closes the body, or to what cannot stand in a body.
size_t find_close(const Lexemes& lexemes, size_t i) {
  int depth = 0;
  for (; lexemes[i].type != antlr4::Token::EOF; ++i) {
    size_t type = lexemes[i].type;
    bool item =
        type == DjtParser::PROBE || type == DjtParser::FUNCTION || type == DjtParser::GLOBAL;
    if ((depth == 0 && type == DjtParser::GT) || (item && !is_name_part(lexemes, i))) {
      return i;
    }
    depth += opens(type) ? 1 : closes_inside(type) ? -1 : 0;
  }
  return i;
}

}  // namespace

bool mark_angle_bodies(Lexemes& lexemes, Diags& diags) {
  bool ok = true;
  for (size_t i = 0; i < lexemes.size(); ++i) {
    if (lexemes[i].type != DjtParser::PROBE || is_name_part(lexemes, i)) {
      continue;
    }
    size_t open = skip_point_list(lexemes, i + 1);
    if (lexemes[open].type != DjtParser::LT) {
      i = open - 1;
      continue;
    }
    lexemes[open].type = DjtParser::ANGLE_OPEN;
    size_t close = find_close(lexemes, open + 1);
    if (lexemes[close].type == DjtParser::GT) {
      lexemes[close].type = DjtParser::ANGLE_CLOSE;
      i = close;
    } else if (ok) {
      Diag& diag =
          diags.error("DJ1009", lexemes[open].span, "the body that begins here is never closed");
      diag.help = "close it with '>'; inside a < ... > body, write (a > b) to compare";
      ok = false;
    }
  }
  return ok;
}

}  // namespace dj
