// SPDX-License-Identifier: Apache-2.0
// retag(): separators between statements are optional, so what '-', '(' or '[' mean depends on
// whether an operand stands before them. Decided here, the grammar needs one token of lookahead.
#include "compiler/parse/lexeme.h"

namespace dj {

namespace {

// Walks the tokens once and knows, at each, whether the ones before it form an operand.
class Retagger {
 public:
  explicit Retagger(Lexemes& lexemes) : lexemes_(lexemes) {}

  void run() {
    for (size_t i = 0; i < lexemes_.size(); ++i) {
      Lexeme& lexeme = lexemes_[i];
      bool member = i > 0 && (before(i) == DjtParser::ARROW || before(i) == DjtParser::DOT);
      bool at_word = i > 0 && (before(i) == DjtParser::ID || before(i) == DjtParser::ATWORD);
      if (lexeme.type == DjtParser::LPAREN) {
        heads_.push_back(i > 0 && is_head(before(i)) && !after_member(i));
        if (at_word) {
          lexeme.type = DjtParser::CALL_OPEN;
        }
        operand_ = false;
      } else if (lexeme.type == DjtParser::RPAREN) {
        // The ')' of "if (...)" ends no operand: what follows is a statement.
        operand_ = heads_.empty() || !heads_.back();
        if (!heads_.empty()) {
          heads_.pop_back();
        }
      } else if (lexeme.type == DjtParser::STRING && i > 0 && is_string(before(i))) {
        lexeme.type = DjtParser::STRING_MORE;
      } else if (lexeme.type == DjtParser::RETURN && !member && has_value(i + 1)) {
        lexeme.type = DjtParser::RETURN_VALUE;
        operand_ = false;
      } else {
        lexeme.type = operand_ && !is_second_step(i) ? behind_operand(lexeme.type)
                                                     : before_operand(lexeme.type);
        operand_ = ends_operand(lexeme.type) ||
                   (is_keyword(lexeme.type) && i > 0 && before(i) == DjtParser::ARROW);
      }
    }
  }

 private:
  size_t before(size_t i) const { return lexemes_[i - 1].type; }

  // "->if (" and ".for(": the keyword before the parenthesis is a name.
  bool after_member(size_t i) const {
    return i > 1 && (before(i - 1) == DjtParser::ARROW || before(i - 1) == DjtParser::DOT);
  }

  // a++ ++b are two statements, and ++a ++b: an operand takes one of these only.
  bool is_second_step(size_t i) const {
    if (i == 0 || !is_step(lexemes_[i].type)) return false;
    if (is_step(before(i))) return true;
    const size_t begin = operand_begin(i);
    return begin > 0 &&
           (before(begin) == DjtParser::PRE_INC || before(begin) == DjtParser::PRE_DEC);
  }

  static bool is_step(size_t type) { return type == DjtParser::INC || type == DjtParser::DEC; }

  // Where the operand that ends before token i begins: a, f(x), $p->a[i], (a).
  size_t operand_begin(size_t i) const {
    while (i > 0) {
      --i;
      const size_t type = lexemes_[i].type;
      if (type == DjtParser::RBRACKET || type == DjtParser::RPAREN) {
        i = opening(i);
        const size_t open = lexemes_[i].type;
        if (open != DjtParser::INDEX_OPEN && open != DjtParser::CALL_OPEN) return i;
      } else if (type != DjtParser::PRETTY) {
        if (i == 0 || before(i) != DjtParser::ARROW) return i;
        --i;
      }
    }
    return 0;
  }

  // The bracket that the one at i closes.
  size_t opening(size_t i) const {
    int depth = 0;
    for (;; --i) {
      const size_t type = lexemes_[i].type;
      const bool closes = type == DjtParser::RBRACKET || type == DjtParser::RPAREN;
      const bool opens = type == DjtParser::LBRACKET || type == DjtParser::INDEX_OPEN ||
                         type == DjtParser::LPAREN || type == DjtParser::CALL_OPEN;
      depth += closes ? 1 : opens ? -1 : 0;
      if (depth == 0 || i == 0) return i;
    }
  }

  static bool is_string(size_t type) {
    return type == DjtParser::STRING || type == DjtParser::STRING_MORE;
  }

  static bool is_head(size_t type) {
    return type == DjtParser::IF || type == DjtParser::WHILE || type == DjtParser::FOR ||
           type == DjtParser::FOREACH || type == DjtParser::CATCH;
  }

  // Whether an expression begins at token i: anything but the end or another statement. Behind
  // what stands in ".{return, call}" none does.
  bool has_value(size_t i) const {
    size_t type = lexemes_[i].type;
    return !is_keyword(type) && type != DjtParser::SEMICOLON && type != DjtParser::RBRACE &&
           type != DjtParser::LBRACE && type != DjtParser::ANGLE_CLOSE &&
           type != DjtParser::COMMA && type != DjtParser::DOT && type != DjtParser::QUESTION &&
           type != antlr4::Token::EOF;
  }

  static size_t behind_operand(size_t type) {
    return type == DjtParser::LBRACKET ? size_t{DjtParser::INDEX_OPEN} : type;
  }

  static size_t before_operand(size_t type) {
    switch (type) {
      case DjtParser::PLUS:
        return DjtParser::SIGN_PLUS;
      case DjtParser::MINUS:
        return DjtParser::SIGN_MINUS;
      case DjtParser::AMP:
        return DjtParser::ADDRESS_OF;
      case DjtParser::INC:
        return DjtParser::PRE_INC;
      case DjtParser::DEC:
        return DjtParser::PRE_DEC;
      default:
        return type;
    }
  }

  static bool ends_operand(size_t type) {
    switch (type) {
      case DjtParser::ID:
      case DjtParser::TARGET:
      case DjtParser::ATWORD:
      case DjtParser::NUMBER:
      case DjtParser::FRACTION:
      case DjtParser::STRING:
      case DjtParser::STRING_MORE:
      case DjtParser::RBRACKET:
      case DjtParser::PRETTY:
      case DjtParser::INC:
      case DjtParser::DEC:
        return true;
      default:
        return false;
    }
  }

  Lexemes& lexemes_;
  bool operand_ = false;
  std::vector<bool> heads_;  // for each open '(': does it belong to if, while, for ...
};

}  // namespace

void retag(Lexemes& lexemes) { Retagger(lexemes).run(); }

}  // namespace dj
