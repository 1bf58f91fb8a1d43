// SPDX-License-Identifier: Apache-2.0
// Sets of tokens in words: a person expects "an expression", not twelve tokens.
#include <algorithm>
#include <set>

#include "compiler/parse/syntax_error.h"

namespace dj {

namespace {

using Types = std::set<size_t>;

const Types& expression_starts() {
  static const Types types = {DjtParser::ID,      DjtParser::TARGET,     DjtParser::NUMBER,
                              DjtParser::STRING,  DjtParser::LPAREN,     DjtParser::LBRACKET,
                              DjtParser::ATWORD,  DjtParser::SIGN_PLUS,  DjtParser::SIGN_MINUS,
                              DjtParser::NOT,     DjtParser::TILDE,      DjtParser::PRE_INC,
                              DjtParser::PRE_DEC, DjtParser::ADDRESS_OF, DjtParser::FRACTION};
  return types;
}

const Types& statement_starts() {
  static const Types types = {DjtParser::IF,       DjtParser::WHILE,    DjtParser::FOR,
                              DjtParser::FOREACH,  DjtParser::TRY,      DjtParser::RETURN,
                              DjtParser::DELETE,   DjtParser::NEXT,     DjtParser::RETURN_VALUE,
                              DjtParser::BREAK,    DjtParser::CONTINUE, DjtParser::LBRACE,
                              DjtParser::SEMICOLON};
  return types;
}

// What can stand between or behind operands.
const Types& operators() {
  static const Types types = [] {
    Types set = {DjtParser::INC,        DjtParser::DEC,       DjtParser::STAR,
                 DjtParser::SLASH,      DjtParser::IN,        DjtParser::QUESTION,
                 DjtParser::INDEX_OPEN, DjtParser::CALL_OPEN, DjtParser::DOT,
                 DjtParser::ARROW,      DjtParser::PRETTY,    DjtParser::STRING_MORE,
                 DjtParser::PLUS,       DjtParser::MINUS,     DjtParser::PERCENT};
    for (size_t type = DjtParser::SHL; type <= DjtParser::CONCAT_ASSIGN; ++type) {
      set.insert(type);
    }
    return set;
  }();
  return types;
}

void remove(Types& from, const Types& what) {
  for (size_t type : what) {
    from.erase(type);
  }
}

void remove_keywords(Types& from) {
  for (size_t type = DjtParser::PROBE; type <= DjtParser::CATCH; ++type) {
    from.erase(type);
  }
}

std::string word(size_t type) {
  switch (type) {
    case DjtParser::ID:
      return "a name";
    case DjtParser::NUMBER:
      return "a number";
    case DjtParser::STRING:
      return "a string";
    case DjtParser::CALL_OPEN:
      return "'('";
    case DjtParser::INDEX_OPEN:
      return "'['";
    case DjtParser::ANGLE_OPEN:
      return "'<'";
    case DjtParser::ANGLE_CLOSE:
      return "'>'";
    case DjtParser::SIGN_MINUS:
      return "'-'";
    default: {
      std::string literal = literal_name(type);
      bool keyword = is_keyword(type) && literal.size() > 2;
      return keyword ? "\"" + literal.substr(1, literal.size() - 2) + "\"" : literal;
    }
  }
}

}  // namespace

std::string describe_expected(const std::vector<size_t>& expected) {
  Types rest(expected.begin(), expected.end());
  rest.erase(antlr4::Token::EOF);
  std::vector<std::string> words;
  bool statement = rest.count(DjtParser::FOREACH) != 0 && rest.count(DjtParser::PRE_INC) != 0;
  bool expression = rest.count(DjtParser::PRE_INC) != 0;
  bool point = rest.count(DjtParser::CATCH) != 0 && rest.count(DjtParser::STAR) != 0 && !statement;
  bool behind_operand = rest.count(DjtParser::STAT_ADD) != 0;
  if (statement) {
    words.push_back("a statement");
    remove(rest, statement_starts());
  } else if (point) {
    words.push_back("the name of a probe point");
    rest.erase(DjtParser::ID);
    rest.erase(DjtParser::STAR);
    rest.erase(DjtParser::LBRACE);
    remove_keywords(rest);
  } else if (expression) {
    words.push_back("an expression");
  }
  if (expression) {
    remove(rest, expression_starts());
  }
  if (behind_operand) {
    remove(rest, operators());
  }
  if (rest.count(DjtParser::LPAREN) != 0 && rest.count(DjtParser::CALL_OPEN) != 0) {
    rest.erase(DjtParser::CALL_OPEN);  // the user sees one parenthesis
  }
  if (rest.count(DjtParser::LBRACKET) != 0) {
    rest.erase(DjtParser::INDEX_OPEN);
  }
  if (rest.count(DjtParser::NUMBER) != 0) {
    rest.erase(DjtParser::SIGN_MINUS);
    rest.erase(DjtParser::FRACTION);
  }
  for (size_t type : rest) {
    std::string text = word(type);
    if (!text.empty()) {
      words.push_back(text);
    }
  }
  if (words.empty() && behind_operand) {
    words.push_back("an operator");
  }
  if (words.size() > 6) {
    return "";
  }
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  }
  return text;
}

std::string describe_found(const Lexeme& lexeme) {
  std::string text = lexeme.text.substr(0, lexeme.text.find('\n'));
  if (text.size() > 40) {
    text = text.substr(0, 40) + "...";
  }
  switch (lexeme.type) {
    case antlr4::Token::EOF:
      return "the end of the script";
    case DjtParser::ID:
      return "the name \"" + text + "\"";
    case DjtParser::TARGET:
      return "the target variable " + text;
    case DjtParser::FRACTION:
    case DjtParser::NUMBER:
      return "the number " + text;
    case DjtParser::STRING:
    case DjtParser::STRING_MORE:
      return "the string " + text;
    case DjtParser::ATWORD:
      return text;
    case DjtParser::RETURN_VALUE:
      return "the keyword \"return\"";
    default:
      return is_keyword(lexeme.type) ? "the keyword \"" + text + "\"" : "'" + text + "'";
  }
}

}  // namespace dj
