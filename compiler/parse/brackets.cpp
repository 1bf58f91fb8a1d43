// SPDX-License-Identifier: Apache-2.0
// Brackets: each has its partner. Checked before the parser runs, which could only say that
// something unexpected came, far behind the bracket that is missing.
#include <optional>

#include "compiler/parse/lexeme.h"

namespace dj {

namespace {

constexpr size_t kMaxDepth = 250;  // the parser recurses once per level

std::optional<size_t> partner(size_t open) {
  switch (open) {
    case DjtParser::LPAREN:
      return DjtParser::RPAREN;
    case DjtParser::LBRACKET:
      return DjtParser::RBRACKET;
    case DjtParser::LBRACE:
      return DjtParser::RBRACE;
    case DjtParser::ANGLE_OPEN:
      return DjtParser::ANGLE_CLOSE;
    default:
      return std::nullopt;
  }
}

bool closes(size_t type) {
  return type == DjtParser::RPAREN || type == DjtParser::RBRACKET || type == DjtParser::RBRACE ||
         type == DjtParser::ANGLE_CLOSE;
}

const char* spelling(size_t close) {
  switch (close) {
    case DjtParser::RPAREN:
      return "')'";
    case DjtParser::RBRACKET:
      return "']'";
    case DjtParser::RBRACE:
      return "'}'";
    default:
      return "'>'";
  }
}

using Opened = std::vector<const Lexeme*>;

// The brackets that are missing before token `at`, written there; where that is a macro's text,
// nothing can be said.
void add_missing(const Lexemes& lexemes, size_t at, const std::string& missing, Diag& diag) {
  const Lexeme& before = lexemes[at - 1];
  if (before.span.via != 0 || before.pasted) return;
  diag.help = "write '" + missing + "' behind '" + before.text + "'";
  diag.fixes.push_back({{before.span.file, before.span.end, before.span.end}, missing});
}

// What closes all that is open, innermost first.
std::string closers(const Opened& opened) {
  std::string text;
  for (auto open = opened.rbegin(); open != opened.rend(); ++open)
    text += spelling(*partner((*open)->type))[1];
  return text;
}

// Where the bracket at `open`, not closed before `at`, is likely to end: a[1 = 2; lacks its ']'
// before the '='.
size_t end_inside(const Lexemes& lexemes, size_t open, size_t at) {
  if (lexemes[open].type != DjtParser::LBRACKET) return at;
  for (size_t i = open + 2; i < at; ++i) {
    if (lexemes[i].type >= DjtParser::ASSIGN && lexemes[i].type <= DjtParser::CONCAT_ASSIGN)
      return i;
  }
  return at;
}

// The innermost bracket is not closed where token `at` stands.
void report_unclosed(const Lexemes& lexemes, const Opened& opened, size_t at, Diags& diags) {
  const Lexeme &open = *opened.back(), &found = lexemes[at];
  const std::string close = spelling(*partner(open.type));
  if (found.type == antlr4::Token::EOF) {
    Diag& diag = diags.error("DJ1007", open.span, "this '" + open.text + "' is never closed");
    add_missing(lexemes, at, closers(opened), diag);
    if (diag.help.empty()) diag.help = "the script ends without the " + close + " for it";
    return;
  }
  Diag& diag =
      diags.error("DJ1007", found.span, "expected " + close + ", found '" + found.text + "'");
  diag.labels.push_back({open.span, "opened here"});
  const bool closes_outer =
      opened.size() > 1 && partner(opened[opened.size() - 2]->type) == found.type;
  if (!closes(found.type) || closes_outer) {
    const auto index = static_cast<size_t>(&open - lexemes.data());
    add_missing(lexemes, end_inside(lexemes, index, at), std::string(1, close[1]), diag);
  } else if (found.span.via == 0 && !found.pasted) {
    const bool is_stray = open.type == DjtParser::LBRACE || open.type == DjtParser::ANGLE_OPEN;
    diag.help =
        is_stray ? "this '" + found.text + "' is one too many" : "write " + close + " for it";
    diag.fixes.push_back({found.span, is_stray ? "" : std::string(1, close[1])});
  }
}

bool begins_item(const Lexemes& lexemes, size_t i) {
  size_t type = lexemes[i].type;
  if (type != DjtParser::PROBE && type != DjtParser::FUNCTION && type != DjtParser::GLOBAL) {
    return false;
  }
  size_t before = i == 0 ? antlr4::Token::EOF : lexemes[i - 1].type;
  size_t after = lexemes[i + 1].type;
  return before != DjtParser::DOT && before != DjtParser::ARROW && before != DjtParser::LBRACE &&
         before != DjtParser::COMMA && after != DjtParser::LPAREN && after != DjtParser::DOT;
}

// What can never stand inside this bracket: "if (a {" and "print(a;" lack a ')' right there.
bool ends_bracket(const Lexemes& lexemes, const Lexeme* open, size_t inside) {
  if (open->type != DjtParser::LPAREN && open->type != DjtParser::LBRACKET) {
    return false;
  }
  size_t i = static_cast<size_t>(open - lexemes.data());
  bool for_head = i > 0 && lexemes[i - 1].type == DjtParser::FOR;
  return inside == DjtParser::LBRACE || (inside == DjtParser::SEMICOLON && !for_head);
}

}  // namespace

bool check_brackets(const Lexemes& lexemes, Diags& diags) {
  Opened open;
  for (size_t i = 0; i < lexemes.size(); ++i) {
    const Lexeme& lexeme = lexemes[i];
    if (!open.empty() && ends_bracket(lexemes, open.back(), lexeme.type)) {
      report_unclosed(lexemes, open, i, diags);
      return false;
    }
    if (partner(lexeme.type)) {
      open.push_back(&lexeme);
      if (open.size() > kMaxDepth) {
        diags.error("DJ1022", lexeme.span, "brackets are nested too deeply");
        return false;
      }
    } else if (closes(lexeme.type)) {
      if (open.empty()) {
        diags.error("DJ1008", lexeme.span, "this '" + lexeme.text + "' closes nothing").help =
            "it is one too many, or the bracket that opens is missing before it";
        return false;
      }
      if (partner(open.back()->type) != lexeme.type) {
        report_unclosed(lexemes, open, i, diags);
        return false;
      }
      open.pop_back();
    } else if (!open.empty() && begins_item(lexemes, i)) {
      Diag& diag = diags.error("DJ1007", open.back()->span,
                               "this '" + open.back()->text + "' is never closed");
      diag.labels.push_back({lexeme.span, "the next " + lexeme.text + " begins here"});
      add_missing(lexemes, i, closers(open), diag);
      return false;
    }
  }
  if (!open.empty()) {
    report_unclosed(lexemes, open, lexemes.size() - 1, diags);
    return false;
  }
  return true;
}

}  // namespace dj
