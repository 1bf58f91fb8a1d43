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

void report_unclosed(const Lexeme& open, const Lexeme& at, Diags& diags) {
  std::string close = spelling(*partner(open.type));
  if (at.type == antlr4::Token::EOF) {
    diags.error("DJ1007", open.span, "this '" + open.text + "' is never closed").help =
        "the script ends without the " + close + " for it";
    return;
  }
  Diag& diag = diags.error("DJ1007", at.span, "expected " + close + ", found '" + at.text + "'");
  diag.labels.push_back({open.span, "opened here"});
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
  std::vector<const Lexeme*> open;
  for (size_t i = 0; i < lexemes.size(); ++i) {
    const Lexeme& lexeme = lexemes[i];
    if (!open.empty() && ends_bracket(lexemes, open.back(), lexeme.type)) {
      report_unclosed(*open.back(), lexeme, diags);
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
        report_unclosed(*open.back(), lexeme, diags);
        return false;
      }
      open.pop_back();
    } else if (!open.empty() && begins_item(lexemes, i)) {
      Diag& diag = diags.error("DJ1007", open.back()->span,
                               "this '" + open.back()->text + "' is never closed");
      diag.labels.push_back({lexeme.span, "the next " + lexeme.text + " begins here"});
      return false;
    }
  }
  if (!open.empty()) {
    report_unclosed(*open.back(), lexemes.back(), diags);
    return false;
  }
  return true;
}

}  // namespace dj
