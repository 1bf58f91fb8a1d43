// SPDX-License-Identifier: Apache-2.0
// lex(): ANTLR's lexer over bytes, and the errors that single tokens can have.
#include <antlr4-runtime.h>

#include <algorithm>

#include "compiler/parse/lexeme.h"

namespace dj {

namespace {

// A text whose bytes are its characters, so that ANTLR's positions are byte offsets. (ANTLR's own
// stream converts UTF-8 by a thread_local object, and the C library registers such an object only
// when no other thread loads a library: here, LLVM.)
class ByteStream final : public antlr4::CharStream {
 public:
  explicit ByteStream(std::string_view text) : text_(text) {}

  void consume() override { ++at_; }
  size_t LA(ssize_t ahead) override {  // 1: the next byte, -1: the one before; 0 is not asked for
    const size_t place = at_ + static_cast<size_t>(ahead > 0 ? ahead - 1 : ahead);
    return place < text_.size() ? static_cast<unsigned char>(text_[place]) : EOF;
  }
  ssize_t mark() override { return -1; }
  void release(ssize_t) override {}
  size_t index() override { return at_; }
  void seek(size_t place) override { at_ = place; }
  size_t size() override { return text_.size(); }
  std::string getSourceName() const override { return UNKNOWN_SOURCE_NAME; }
  std::string getText(const antlr4::misc::Interval& range) override {
    return std::string(text_.substr(static_cast<size_t>(range.a), range.length()));
  }
  std::string toString() const override { return std::string(text_); }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

// ANTLR's lexer without the tokens that it makes: what is wanted of them are type and place.
class BareLexer : public DjtLexer {
 public:
  explicit BareLexer(ByteStream& stream)
      : DjtLexer(&stream),
        stream_(stream),
        matcher_(*getInterpreter<antlr4::atn::LexerATNSimulator>()) {
    removeErrorListeners();  // every byte is a token: there is nothing it could say
  }

  // Type of the token that begins at the stream's position, which goes behind it; EOF at the end.
  size_t next() {
    if (stream_.LA(1) == EOF) return EOF;
    channel = antlr4::Token::DEFAULT_CHANNEL;
    type = antlr4::Token::INVALID_TYPE;
    const size_t begin = stream_.index();
    size_t matched = match_known(begin);
    if (matched == antlr4::Token::INVALID_TYPE) {
      stream_.seek(begin);
      matched = matcher_.match(&stream_, mode);  // what it does sets channel and type
    }
    return type == antlr4::Token::INVALID_TYPE ? matched : type;
  }
  bool is_hidden() const { return channel != antlr4::Token::DEFAULT_CHANNEL; }

 private:
  // What ANTLR's match() gives, from the states that it has found before; INVALID_TYPE where they
  // do not suffice. ANTLR itself locks them for each byte, for parsers in other threads.
  size_t match_known(size_t begin) {
    const antlr4::dfa::DFAState *state = matcher_._decisionToDFA[mode].s0, *accepted = nullptr;
    size_t end = begin;
    while (state != nullptr && state != antlr4::atn::ATNSimulator::ERROR.get()) {
      if (state->isAcceptState) {
        accepted = state;
        end = stream_.index();
      }
      const size_t byte = stream_.LA(1);
      const auto next = byte == EOF ? state->edges.end() : state->edges.find(byte);
      state = next == state->edges.end() ? nullptr : next->second;
      stream_.consume();
    }
    if (state == nullptr || accepted == nullptr) return antlr4::Token::INVALID_TYPE;
    stream_.seek(end);
    if (accepted->lexerActionExecutor != nullptr)
      accepted->lexerActionExecutor->execute(this, &stream_, begin);
    return accepted->prediction;
  }

  ByteStream& stream_;
  antlr4::atn::LexerATNSimulator& matcher_;
};

bool is_stray_byte(const Lexeme& lexeme) { return lexeme.type == DjtParser::JUNK; }

// A character outside ASCII comes as several JUNK bytes: one lexeme for the user.
void join_stray_bytes(Lexemes& lexemes) {
  if (std::none_of(lexemes.begin(), lexemes.end(), is_stray_byte)) {
    return;
  }
  Lexemes joined;
  for (Lexeme& lexeme : lexemes) {
    bool continues = is_stray_byte(lexeme) && !joined.empty() && is_stray_byte(joined.back()) &&
                     joined.back().span.end == lexeme.span.begin &&
                     (static_cast<unsigned char>(lexeme.text[0]) & 0xc0) == 0x80;
    if (continues) {
      joined.back().span.end = lexeme.span.end;
      joined.back().text += lexeme.text;
    } else {
      joined.push_back(std::move(lexeme));
    }
  }
  lexemes = std::move(joined);
}

void report_stray(const Lexeme& lexeme, Diags& diags) {
  const std::string& text = lexeme.text;
  bool control = static_cast<unsigned char>(text[0]) < 32 || text[0] == 127;
  bool no_break_space = text == "\xc2\xa0";
  std::string what = control          ? "control character"
                     : no_break_space ? "no-break space U+00A0"
                                      : "character '" + text + "'";
  Diag& diag = diags.error("DJ1001", lexeme.span, "no part of a script begins with the " + what);
  bool curly_quote = text.starts_with("\xe2\x80") && text.size() == 3;
  if (text == "'" || text == "`" || curly_quote) {
    diag.help = "strings stand in double quotes: \"text\"";
  } else if (no_break_space) {
    diag.help = "it came along with pasted text: write a plain blank";
  } else if (text == "\\") {
    diag.help = "a statement may go on in the next line as it is";
  } else if (text == "@") {  // as bpftrace's scripts have it
    diag.help =
        "arrays have names: calls[execname()]++; a point is written func(\"name\"), a body belongs "
        "to `probe POINT { ... }`";
  }
}

bool check_lexeme(const Lexeme& lexeme, Diags& diags) {
  switch (lexeme.type) {
    case DjtParser::JUNK:
      report_stray(lexeme, diags);
      return false;
    case DjtParser::UNCLOSED_STRING:
      diags.error("DJ1002", lexeme.span, "this string has no closing quote on its line").help =
          "close it with \"; inside a string, \\\" writes a quote and \\n ends a line";
      return false;
    case DjtParser::UNCLOSED_COMMENT:
      diags.error("DJ1003", lexeme.span, "this comment is never closed").help = "close it with */";
      return false;
    case DjtParser::UNCLOSED_EMBEDDED:
      diags.error("DJ1024", lexeme.span, "this embedded C is never closed").help =
          "djtap has no embedded C; for a remainder, write a blank between % and {";
      return false;
    default:
      return true;
  }
}

}  // namespace

Lexemes lex(std::string_view text, uint32_t file, Comments comments) {
  ByteStream stream(text);
  BareLexer lexer(stream);
  Lexemes lexemes;
  lexemes.reserve(text.size() / 3);  // dense scripts have no more
  uint32_t end = 0;
  while (true) {
    // Blanks are a third of the tokens, and ANTLR takes as long for them as for others.
    const size_t begin = std::min(text.find_first_not_of(" \t\r\n\f", stream.index()), text.size());
    stream.seek(begin);
    const size_t type = lexer.next();
    if (type == antlr4::Token::EOF) break;
    if (lexer.is_hidden() && comments == Comments::Drop) continue;
    end = static_cast<uint32_t>(stream.index());
    lexemes.push_back({type,
                       {file, static_cast<uint32_t>(begin), end},
                       std::string(text.substr(begin, end - begin)),
                       false});
  }
  join_stray_bytes(lexemes);
  lexemes.push_back({antlr4::Token::EOF, {file, end, end}, "", false});
  return lexemes;
}

bool check_lexemes(const Lexemes& lexemes, Diags& diags) {
  for (const Lexeme& lexeme : lexemes) {
    // The first one is enough: behind a lost quote, strings and code have changed places.
    if (!check_lexeme(lexeme, diags)) {
      return false;
    }
  }
  return true;
}

bool check_embedded(const Lexemes& lexemes, Diags& diags) {
  for (const Lexeme& lexeme : lexemes) {
    if (lexeme.type == DjtParser::EMBEDDED) {
      diags.error("DJ1024", lexeme.span, "embedded C is not part of djtap").help =
          "what it would read, a $variable or a built-in function can read";
      return false;
    }
  }
  return true;
}

namespace {

// Only a parser object can name the token types that the filters make.
std::string name_of(size_t type, bool literal) {
  ByteStream nothing("");
  DjtLexer lexer(&nothing);
  antlr4::CommonTokenStream stream(&lexer);
  DjtParser parser(&stream);
  return literal ? parser.getVocabulary().getLiteralName(type)
                 : parser.getVocabulary().getSymbolicName(type);
}

}  // namespace

std::string symbolic_name(size_t type) { return name_of(type, false); }

std::string literal_name(size_t type) { return name_of(type, true); }

bool is_keyword(size_t type) { return type >= DjtParser::PROBE && type <= DjtParser::CATCH; }

const std::vector<std::string>& statement_keywords() {
  static const std::vector<std::string> words = {"if",     "else",   "while", "for",   "foreach",
                                                 "return", "delete", "next",  "break", "continue"};
  return words;
}

const std::vector<std::string>& item_keywords() {
  static const std::vector<std::string> words = {"probe", "function", "global", "private"};
  return words;
}

}  // namespace dj
