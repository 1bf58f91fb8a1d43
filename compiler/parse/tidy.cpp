// SPDX-License-Identifier: Apache-2.0
// Writes the tokens out again, line by line.
#include "compiler/parse/tidy.h"

#include <algorithm>

#include "compiler/parse/lexeme.h"

namespace dj {

namespace {

bool is_comment(const Lexeme& lexeme) {
  return lexeme.type == DjtParser::COMMENT || lexeme.type == DjtParser::LINE_COMMENT ||
         lexeme.type == DjtParser::SHELL_COMMENT;
}

bool opens(const Lexeme& l) {
  return l.type == DjtParser::LPAREN || l.type == DjtParser::CALL_OPEN ||
         l.type == DjtParser::LBRACKET || l.type == DjtParser::INDEX_OPEN ||
         l.type == DjtParser::LBRACE || l.type == DjtParser::ANGLE_OPEN || l.text == "%(";
}

bool closes_body(const Lexeme& l) {
  return l.type == DjtParser::RPAREN || l.type == DjtParser::RBRACKET ||
         l.type == DjtParser::RBRACE || l.type == DjtParser::ANGLE_CLOSE || l.text == "%)";
}

bool is_body_open(const Lexeme& l) {
  return l.type == DjtParser::LBRACE || l.type == DjtParser::ANGLE_OPEN;
}
bool is_body_close(const Lexeme& l) {
  return l.type == DjtParser::RBRACE || l.type == DjtParser::ANGLE_CLOSE;
}

// Operators that have a blank on either side.
bool stands_apart(size_t type) {
  return (type >= DjtParser::SHL && type <= DjtParser::NO_MATCH) || type == DjtParser::AND ||
         type == DjtParser::OR || type == DjtParser::STAT_ADD || type == DjtParser::ASSIGN ||
         (type >= DjtParser::ADD_ASSIGN && type <= DjtParser::CONCAT_ASSIGN);
}

bool is_prefix(size_t type) {
  return type == DjtParser::SIGN_PLUS || type == DjtParser::SIGN_MINUS ||
         type == DjtParser::PRE_INC || type == DjtParser::PRE_DEC ||
         type == DjtParser::ADDRESS_OF || type == DjtParser::TILDE;
}

bool begins_operand(size_t type) {
  return type == DjtParser::ID || type == DjtParser::TARGET || type == DjtParser::ATWORD ||
         type == DjtParser::NUMBER || type == DjtParser::FRACTION || type == DjtParser::STRING ||
         is_prefix(type);
}

bool takes_head(size_t type) {
  return type == DjtParser::IF || type == DjtParser::WHILE || type == DjtParser::FOR ||
         type == DjtParser::FOREACH || type == DjtParser::CATCH;
}

// Tokens and comments in the order of the text, with the types that the filters give.
class Tidier {
 public:
  Tidier(const Source& source, Lexemes lexemes) : source_(source), all_(std::move(lexemes)) {}

  std::string run() {
    for (size_t i = 0; i + 1 < all_.size(); ++i) {
      place(i);
      follow(i);
      out_ += text(i);
    }
    out_ += out_.empty() ? "" : "\n";
    return std::move(out_);
  }

 private:
  std::string text(size_t i) const {
    const Lexeme& lexeme = all_[i];
    if (lexeme.type == DjtParser::ANGLE_OPEN) return "{";
    if (lexeme.type == DjtParser::ANGLE_CLOSE) return "}";
    std::string shown = lexeme.text;
    if (is_comment(lexeme)) {
      shown.erase(shown.find_last_not_of(" \t\r\n\f") + 1);
    }
    return shown;
  }

  // What stands between token i and the one before it.
  void place(size_t i) {
    if (i == 0) return;
    size_t from = all_[i - 1].span.end, to = all_[i].span.begin;
    long lines = std::count(source_.text.begin() + static_cast<long>(from),
                            source_.text.begin() + static_cast<long>(to), '\n');
    if (lines == 0) {
      out_ += blank(i, to > from) ? " " : "";
      return;
    }
    bool inside = is_body_open(all_[i - 1]) || is_body_close(all_[i]);
    out_ += lines > 1 && !inside ? "\n\n" : "\n";
    size_t depth = depth_ - (closes_body(all_[i]) && depth_ > 0 ? 1 : 0);
    bool continues = !at_statement_begin(i) && !closes_body(all_[i]) && !is_comment(all_[i]);
    out_ += std::string(2 * depth + shift(i) + (continues ? 4 : 0), ' ');
  }

  // How much more to the right than its block token i stands, which begins a line: the body of an
  // if, else or loop without braces does.
  size_t shift(size_t i) {
    const Lexeme& lexeme = all_[i];
    size_t before = i - 1;
    while (before > 0 && is_comment(all_[before])) --before;
    bool body = head_end_ == before + 1;
    if (is_body_close(lexeme)) return base_;
    if (is_comment(lexeme)) return base_ + (body ? now_.shift + 2 : 0);
    if (body && !is_body_open(lexeme)) {
      now_.shift += 2;
    } else if (lexeme.type == DjtParser::ELSE && !now_.ifs.empty()) {
      now_.shift = now_.ifs.back();
      now_.ifs.pop_back();
    } else if (!body && in_block() && at_statement_begin(i)) {
      now_ = {};
    }
    return base_ + now_.shift;
  }
  bool in_block() const { return depth_ == (blocks_.empty() ? 0 : blocks_.back().depth); }

  // Whether the line that token i begins does not go on with what the line before it began.
  bool at_statement_begin(size_t i) const {
    size_t before = i - 1;
    while (before > 0 && is_comment(all_[before])) --before;
    const Lexeme& last = all_[before];
    size_t type = last.type, next = all_[i].type;
    bool item = (next == DjtParser::PROBE || next == DjtParser::FUNCTION ||
                 next == DjtParser::GLOBAL || next == DjtParser::PRIVATE) &&
                type != DjtParser::DOT && type != DjtParser::COMMA;
    return item || is_comment(last) ||
           !(stands_apart(type) || type == DjtParser::COMMA || type == DjtParser::DOT ||
             type == DjtParser::PLUS || type == DjtParser::MINUS || stands_apart(next) ||
             next == DjtParser::QUESTION || next == DjtParser::COLON || next == DjtParser::DOT);
  }

  bool blank(size_t i, bool had_one) const {
    const Lexeme &a = all_[i - 1], &b = all_[i];
    if (is_comment(a) || is_comment(b)) return true;
    if (b.type == DjtParser::COMMA || b.type == DjtParser::SEMICOLON) return false;
    if (is_body_open(b) && a.type != DjtParser::DOT && !in_choice()) return true;
    if (in_points_) {
      if (a.type == DjtParser::COMMA && !in_choice()) return true;
      bool equals = a.type == DjtParser::ASSIGN || a.type == DjtParser::ADD_ASSIGN ||
                    b.type == DjtParser::ASSIGN || b.type == DjtParser::ADD_ASSIGN;
      return equals || had_one;
    }
    if (is_body_open(a) && is_body_close(b)) return had_one;
    if (is_body_open(a) || is_body_close(a) || is_body_close(b)) return true;
    if (a.type == DjtParser::COMMA || a.type == DjtParser::SEMICOLON) return true;
    bool opened = a.type == DjtParser::LPAREN || a.type == DjtParser::CALL_OPEN ||
                  a.type == DjtParser::LBRACKET || a.type == DjtParser::INDEX_OPEN;
    bool joined = b.type == DjtParser::CALL_OPEN || b.type == DjtParser::INDEX_OPEN ||
                  b.type == DjtParser::RPAREN || b.type == DjtParser::RBRACKET;
    if (opened || joined) return false;
    if (a.type == DjtParser::ARROW || b.type == DjtParser::ARROW) return false;
    if (takes_head(a.type) && b.type == DjtParser::LPAREN) return true;
    if (a.type == DjtParser::RPAREN && begins_operand(b.type)) return true;  // of a statement
    if (is_prefix(a.type)) return is_prefix(b.type) && had_one;
    if (stands_apart(a.type) || stands_apart(b.type) || is_keyword(b.type)) return true;
    return had_one;
  }

  // Keeps the state that token i changes.
  void follow(size_t i) {
    const Lexeme& lexeme = all_[i];
    size_t before = i > 0 ? all_[i - 1].type : antlr4::Token::EOF;
    bool name = before == DjtParser::DOT || before == DjtParser::ARROW;
    if (lexeme.type == DjtParser::PROBE && !name) {
      in_points_ = true;
      points_depth_ = depth_;
    } else if (in_points_ && is_body_open(lexeme) && !continues_points(before)) {
      in_points_ = false;
    }
    if (opens(lexeme)) {
      ++depth_;
      if (is_block(lexeme)) {
        blocks_.push_back({depth_, base_, now_});
        base_ += now_.shift;
        now_ = {};
      }
    } else if (closes_body(lexeme) && depth_ > 0) {
      if (!blocks_.empty() && blocks_.back().depth == depth_) {
        base_ = blocks_.back().base;
        now_ = blocks_.back().outside;
        blocks_.pop_back();
      }
      --depth_;
    }
    if (!name) follow_head(i);
  }

  static bool is_block(const Lexeme& l) { return is_body_open(l) || l.text == "%("; }

  // Notes where the head of an if, else or loop ends: what comes next is its body.
  void follow_head(size_t i) {
    size_t type = all_[i].type;
    if (type == DjtParser::IF) now_.ifs.push_back(now_.shift);
    if (type == DjtParser::ELSE) head_end_ = i + 1;
    if (takes_head(type)) {
      heads_.push_back(depth_);
    } else if (type == DjtParser::RPAREN && !heads_.empty() && heads_.back() == depth_) {
      heads_.pop_back();
      head_end_ = i + 1;
    }
  }

  static bool continues_points(size_t type) {
    return type == DjtParser::PROBE || type == DjtParser::COMMA || type == DjtParser::DOT ||
           type == DjtParser::ASSIGN || type == DjtParser::ADD_ASSIGN || type == DjtParser::LBRACE;
  }

  bool in_choice() const { return in_points_ && depth_ > points_depth_; }  // {a,b} in a point

  const Source& source_;
  Lexemes all_;
  std::string out_;
  size_t depth_ = 0, points_depth_ = 0;
  bool in_points_ = false;
  // The statement that the last line began: how far it is shifted, and the ifs in it that may have
  // an else, by their own shifts.
  struct Statement {
    size_t shift = 0;
    std::vector<size_t> ifs;
  } now_;
  struct Block {
    size_t depth, base;
    Statement outside;
  };
  std::vector<Block> blocks_;
  size_t base_ = 0;            // the shift of the statements that the blocks stand in
  std::vector<size_t> heads_;  // depths of heads that are not complete
  size_t head_end_ = 0;        // behind the last token of the last head; 0: none
};

// Runs the filters that tell tokens apart over the tokens without the comments between them.
bool distinguish(Lexemes& all, Diags& diags) {
  Lexemes tokens;
  std::copy_if(all.begin(), all.end(), std::back_inserter(tokens),
               [](const Lexeme& lexeme) { return !is_comment(lexeme); });
  if (!check_lexemes(tokens, diags) || !mark_angle_bodies(tokens, diags)) return false;
  retag(tokens);
  size_t next = 0;
  for (Lexeme& lexeme : all) {
    if (!is_comment(lexeme)) lexeme.type = tokens[next++].type;
  }
  return true;
}

bool same_tokens(std::string_view a, std::string_view b, uint32_t file) {
  auto plain = [](const Lexeme& lexeme) {
    return lexeme.text == "<" ? "{" : lexeme.text == ">" ? "}" : lexeme.text;
  };
  Lexemes left = lex(a, file), right = lex(b, file);
  return left.size() == right.size() &&
         std::equal(left.begin(), left.end(), right.begin(),
                    [&](const Lexeme& x, const Lexeme& y) { return plain(x) == plain(y); });
}

}  // namespace

std::string tidy(const Sources& sources, uint32_t file, Diags& diags) {
  const Source& source = sources.files.at(file);
  Lexemes all = lex(source.text, file, Comments::Keep);
  if (!distinguish(all, diags)) return source.text;
  std::string text = Tidier(source, std::move(all)).run();
  // Two tokens that a blank kept apart must not become one; then the text is better left alone.
  return same_tokens(source.text, text, file) ? text : source.text;
}

}  // namespace dj
