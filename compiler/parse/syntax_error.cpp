// SPDX-License-Identifier: Apache-2.0
// report_syntax(): one error per cause. First the mistakes that people make, each with its own
// words, then the general sentence "expected ..., found ...".
#include "compiler/parse/syntax_error.h"

#include <algorithm>

#include "compiler/diag/other_words.h"

namespace dj {

namespace {

struct Report {
  const SyntaxError& error;
  const Lexemes& lexemes;
  size_t first;
  Diags& diags;

  const Lexeme& found() const { return lexemes[error.at]; }
  const Lexeme* before() const { return error.at > 0 ? &lexemes[error.at - 1] : nullptr; }
  bool expects(size_t type) const {
    return std::find(error.expected.begin(), error.expected.end(), type) != error.expected.end();
  }
  bool in_rule(size_t rule) const {
    return std::find(error.rules.begin(), error.rules.end(), rule) != error.rules.end();
  }
  // At the end of the script there is nothing to underline: what stands before it is shown.
  Span place() const {
    return found().type == antlr4::Token::EOF && before() != nullptr ? before()->span
                                                                     : found().span;
  }
};

bool begins_item(size_t type) {
  return type == DjtParser::PROBE || type == DjtParser::FUNCTION || type == DjtParser::GLOBAL ||
         type == DjtParser::PRIVATE;
}

// probe begin < if (a) b = c > d >: the body ended at the first '>'.
bool angle_closed_early(const Report& r) {
  if (r.error.at != r.first || r.before() == nullptr ||
      r.before()->type != DjtParser::ANGLE_CLOSE) {
    return false;
  }
  Diag& diag = r.diags.error("DJ1009", r.found().span,
                             "unexpected " + describe_found(r.found()) + " behind a probe's body");
  diag.labels.push_back({r.before()->span, "this '>' closed the body"});
  diag.help = "inside a < ... > body, write (a > b) to compare";
  return true;
}

// func("f") { ... }, begin { ... }: the keyword is missing, not misspelled.
bool is_point(const Report& r) {
  constexpr std::string_view kFirstWords[] = {"func",    "process", "begin", "end",    "error",
                                              "oneshot", "never",   "timer", "syscall"};
  if (std::find(std::begin(kFirstWords), std::end(kFirstWords), r.found().text) ==
      std::end(kFirstWords))
    return false;
  size_t next = r.error.at + 1 < r.lexemes.size() ? r.lexemes[r.error.at + 1].type : 0;
  return next == DjtParser::LPAREN || next == DjtParser::CALL_OPEN || next == DjtParser::DOT ||
         next == DjtParser::LBRACE;
}

bool unknown_item(const Report& r) {
  if (r.error.at != r.first) {
    return false;
  }
  Diag& diag = r.diags.error(
      "DJ1011", r.found().span,
      "expected \"probe\", \"function\" or \"global\", found " + describe_found(r.found()));
  diag.help = help_for_other_word(r.found().text);
  if (is_point(r)) {
    const Span& found = r.found().span;
    diag.help = "a probe point has the word probe before it: probe " + r.found().text;
    diag.fixes.push_back({{found.file, found.begin, found.begin}, "probe "});
  }
  if (diag.help.empty()) {
    diag.suggest(near_names(r.found().text, item_keywords(), 1));
  }
  if (diag.help.empty() && r.found().type != DjtParser::ID) {
    diag.help = "statements stand in a probe: probe begin { ... }";
  } else if (diag.help.empty()) {
    diag.help = "a script is made of probes: probe func(\"name\") { statements }";
  }
  return true;
}

// probe one = begin: an alias, and no body for it.
bool alias_without_body(const Report& r) {
  size_t type = r.found().type, op = r.first;
  bool ends = type == antlr4::Token::EOF || begins_item(type) || type == DjtParser::SEMICOLON;
  if (!ends || r.lexemes[r.first].type != DjtParser::PROBE) return false;
  auto is_op = [](size_t t) { return t == DjtParser::ASSIGN || t == DjtParser::ADD_ASSIGN; };
  for (; op < r.error.at && !is_op(r.lexemes[op].type); ++op) {
    size_t t = r.lexemes[op].type;  // a name has neither body nor argument
    if (t == DjtParser::LBRACE || t == DjtParser::LPAREN || t == DjtParser::CALL_OPEN) return false;
  }
  auto is_body = [&](const Lexeme& lexeme) {
    return lexeme.type == DjtParser::LBRACE || lexeme.type == DjtParser::ANGLE_OPEN;
  };
  auto begin = r.lexemes.begin(), at = begin + static_cast<long>(r.error.at);
  bool bare = op + 1 < r.error.at && std::none_of(begin + static_cast<long>(op), at, is_body);
  if (!bare) return false;
  Span written = r.lexemes[r.first].span;
  written.end = r.before()->span.end;
  r.diags.error("DJ1013", written, "an alias needs a body").help =
      "write the statements in braces, which may be empty: probe name = points { }";
  return true;
}

bool no_body(const Report& r) {
  size_t type = r.found().type;
  bool ends = type == antlr4::Token::EOF || begins_item(type);
  bool behind_point = r.before() != nullptr && r.before()->type != DjtParser::PROBE &&
                      r.before()->type != DjtParser::COMMA && r.before()->type != DjtParser::DOT &&
                      r.expects(DjtParser::LBRACE) && r.expects(DjtParser::DOT);
  bool complete = r.expects(DjtParser::LBRACE) && r.expects(DjtParser::ANGLE_OPEN);
  bool in_points = r.in_rule(DjtParser::RuleProbeDef) && !r.in_rule(DjtParser::RuleBody);
  if (!in_points || !(behind_point || complete)) {
    return false;
  }
  Span points = r.lexemes[r.first + 1].span;
  points.end = r.before()->span.end;
  Diag& diag = ends
                   ? r.diags.error("DJ1012", points, "a probe needs a body")
                   : r.diags.error("DJ1012", r.found().span,
                                   "expected the probe's body, found " + describe_found(r.found()));
  diag.help = "write the statements in braces: { count++ }";
  return true;
}

// probe begin, { x++ }: the body was read as a list of points, and then a body is missing.
bool body_read_as_points(const Report& r) {
  if (r.in_rule(DjtParser::RuleBody)) {
    return false;
  }
  size_t brace = r.first + 1;
  while (brace < r.error.at && r.lexemes[brace].type != DjtParser::LBRACE) {
    ++brace;
  }
  size_t before = r.lexemes[brace - 1].type;
  bool at_end = r.error.at > brace && r.before()->type == DjtParser::RBRACE;
  if (!at_end || (before != DjtParser::PROBE && before != DjtParser::COMMA)) {
    return false;
  }
  r.diags.error("DJ1013", r.lexemes[brace].span, "expected the name of a probe point, found '{'")
      .help = before == DjtParser::COMMA
                  ? "the ',' before it is one too many"
                  : "say where to probe: probe func(\"name\") { statements }";
  return true;
}

// probe { x++ }: the grammar reads "{x" as a list of probe points, a person forgot the point.
bool no_point(const Report& r) {
  if (!r.in_rule(DjtParser::RuleComponent) || r.in_rule(DjtParser::RuleBody)) {
    return false;
  }
  size_t open = r.error.at;
  for (int depth = 0; open > r.first; --open) {
    size_t type = r.lexemes[open - 1].type;
    depth += type == DjtParser::RBRACE ? 1 : type == DjtParser::LBRACE ? -1 : 0;
    if (depth < 0) {
      break;
    }
  }
  if (open <= r.first + 1) {
    return false;
  }
  const Lexeme& brace = r.lexemes[open - 1];
  r.diags.error("DJ1013", brace.span, "expected the name of a probe point, found '{'").help =
      "say where to probe: probe func(\"name\") { statements }";
  return true;
}

bool keyword_as_name(const Report& r) {
  if (!is_keyword(r.found().type) || !r.expects(DjtParser::ID) || r.expects(DjtParser::FOREACH) ||
      begins_item(r.found().type)) {
    return false;
  }
  bool value = r.expects(DjtParser::PRE_INC);
  r.diags.error(
      "DJ1014", r.found().span,
      "\"" + r.found().text + "\" is a keyword and cannot be " + (value ? "a value" : "a name"));
  return true;
}

bool lonely_else(const Report& r) {
  if (r.found().type != DjtParser::ELSE && r.found().type != DjtParser::CATCH) {
    return false;
  }
  bool is_else = r.found().type == DjtParser::ELSE;
  Diag& diag = r.diags.error(
      "DJ1013", r.found().span,
      is_else ? "\"else\" without an \"if\" before it" : "\"catch\" without a \"try\" before it");
  if (is_else && r.before() != nullptr && r.before()->type == DjtParser::SEMICOLON) {
    diag.help = "the statement before it has one ';' too many, or needs braces";
  }
  return true;
}

// What helps against mistakes that the sentence "expected ..., found ..." does not explain.
std::string usual_help(const Report& r) {
  const std::string& found = r.found().text;
  std::string before = r.before() != nullptr ? r.before()->text : "";
  std::string other = help_for_other_word(found);
  if (other.empty()) other = help_for_other_word(before);
  if (other.empty() && found == ":" && r.error.at > 1)  // case 1:
    other = help_for_other_word(r.lexemes[r.error.at - 2].text);
  if (!other.empty()) return other;
  if (begins_item(r.found().type) && r.expects(DjtParser::FOREACH)) {
    return "it stands outside of probes and functions";
  }
  if (found == "=" && before == "==") return "write == to compare";
  if (r.found().type == DjtParser::FRACTION && r.in_rule(DjtParser::RuleComponent)) {
    return "numbers are whole here: timer.ms(500) is half a second";
  }
  if (found == "[" && r.expects(DjtParser::STRING)) {
    return "arrays are filled by statements: probe begin { name[1] = 2 }";
  }
  if (before == "=~" || before == "!~") return "a pattern is a literal string";
  if (found == "<" && r.expects(DjtParser::FOREACH))
    return "< ... > stands for the body of a probe alone: write { ... }";
  if (found == ")" && r.expects(DjtParser::SEMICOLON) && !r.expects(DjtParser::FOREACH)) {
    return "for (i = 0; i < n; i++) counts, foreach (key in array) visits elements";
  }
  if (r.expects(DjtParser::CATCH) && !r.expects(DjtParser::ID))
    return "write try { ... } catch (message) { ... }";
  return "";
}

void general(const Report& r) {
  std::string expected = describe_expected(r.error.expected);
  std::string message = expected.empty()
                            ? "unexpected " + describe_found(r.found())
                            : "expected " + expected + ", found " + describe_found(r.found());
  Diag& diag = r.diags.error("DJ1013", r.place(), message);
  diag.help = usual_help(r);
  if (r.found().pasted) {
    diag.notes.push_back("this script argument is " + r.found().text);
    if (r.expects(DjtParser::STRING)) {
      diag.help = "@1 pastes the first argument as a string, $1 as it is";
    }
  }
  if (r.found().type == DjtParser::COMMA && r.expects(DjtParser::FOREACH)) {
    diag.help = "statements are separated by ';' or nothing at all";
  }
  bool header = !r.error.rules.empty() && r.error.rules[0] == DjtParser::RuleStmt;
  if (header && r.in_rule(DjtParser::RuleStmt) && r.expects(DjtParser::LPAREN) &&
      r.before() != nullptr && is_keyword(r.before()->type)) {
    diag.help = "write " + r.before()->text + " (...) with parentheses";
  }
  bool misquoted = r.expects(DjtParser::STRING) && r.found().type == DjtParser::ID &&
                   r.in_rule(DjtParser::RuleComponent);
  if (misquoted && diag.help.empty()) {
    diag.help = "names of the target are strings here: \"" + r.found().text + "\"";
  }
}

}  // namespace

void report_syntax(const SyntaxError& error, const Lexemes& lexemes, size_t first, Diags& diags) {
  Report report{error, lexemes, first, diags};
  bool told = angle_closed_early(report) || unknown_item(report) || lonely_else(report) ||
              no_point(report) || body_read_as_points(report) || alias_without_body(report) ||
              no_body(report) || keyword_as_name(report);
  if (!told) {
    general(report);
  }
}

}  // namespace dj
