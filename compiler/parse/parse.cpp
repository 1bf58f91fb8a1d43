// SPDX-License-Identifier: Apache-2.0
// parse(): text, tokens, filters, grammar, tree, Script. ANTLR's exceptions end here.
#include "compiler/parse/parse.h"

#include <antlr4-runtime.h>
#include <fmt/format.h>

#include "compiler/parse/build.h"
#include "compiler/parse/lexeme.h"
#include "compiler/parse/macros.h"
#include "compiler/parse/one_token.h"
#include "compiler/parse/syntax_error.h"
#include "compiler/parse/token_list.h"

namespace dj {

namespace {

using Mode = antlr4::atn::PredictionMode;

// The grammar over one list of tokens, item by item, so that a mistake costs one item.
class ItemParser {
 public:
  explicit ItemParser(const Lexemes& lexemes)
      : lexemes_(lexemes), stream_(lexemes), parser_(&stream_) {
    parser_.removeErrorListeners();
    predictor_ = new OneToken(parser_);
    parser_.setInterpreter(predictor_);  // owns it
  }

  bool at_end() { return stream_.LA(1) == antlr4::Token::EOF; }
  size_t position() { return stream_.index(); }
  const SyntaxError& error() const { return catcher_->error(); }

  // The next item's tree, or null: see error(). It lives until the next call.
  DjtParser::ItemContext* next() {
    size_t start = position();
    DjtParser::ItemContext* item = attempt(start, true);
    return item != nullptr ? item : attempt(start, false);
  }

  // Goes on at the first item that begins behind the error.
  void skip_to_next_item(size_t first) {
    size_t i = first + 1;
    int depth = 0;
    for (; lexemes_[i].type != antlr4::Token::EOF; ++i) {
      depth += opens(lexemes_[i].type) ? 1 : closes(lexemes_[i].type) ? -1 : 0;
      if (depth == 0 && i >= error().at && begins_item(i)) {
        break;
      }
    }
    stream_.seek(i);
  }

 private:
  // quick: only to find out what a right item is; what is wrong with another one the second attempt
  // says, which takes its time.
  DjtParser::ItemContext* attempt(size_t start, bool quick) {
    stream_.seek(start);
    // Not parser_.reset(), which would go back to the first token.
    parser_.setContext(nullptr);
    parser_.getTreeTracker().reset();  // memory that is used again is warm
    parser_.setErrorHandler(quick ? quitter_ : catcher_);
    predictor_->use_tables(quick);
    predictor_->setPredictionMode(quick ? Mode::SLL : Mode::LL);
    try {
      return parser_.item();
    } catch (const antlr4::ParseCancellationException&) {
      return nullptr;
    }
  }

  static bool opens(size_t type) {
    return type == DjtParser::LPAREN || type == DjtParser::CALL_OPEN ||
           type == DjtParser::LBRACKET || type == DjtParser::INDEX_OPEN ||
           type == DjtParser::LBRACE || type == DjtParser::ANGLE_OPEN;
  }

  static bool closes(size_t type) {
    return type == DjtParser::RPAREN || type == DjtParser::RBRACKET || type == DjtParser::RBRACE ||
           type == DjtParser::ANGLE_CLOSE;
  }

  bool begins_item(size_t i) const {
    size_t type = lexemes_[i].type, before = lexemes_[i - 1].type;
    bool word = type == DjtParser::PROBE || type == DjtParser::FUNCTION ||
                type == DjtParser::GLOBAL || type == DjtParser::PRIVATE;
    return word && before != DjtParser::DOT && before != DjtParser::ARROW &&
           before != DjtParser::PRIVATE;
  }

  const Lexemes& lexemes_;
  TokenList stream_;
  DjtParser parser_;
  OneToken* predictor_;
  std::shared_ptr<ErrorCatcher> catcher_ = std::make_shared<ErrorCatcher>();
  std::shared_ptr<antlr4::ANTLRErrorStrategy> quitter_ =
      std::make_shared<antlr4::BailErrorStrategy>();
};

// The text with blanks where none of the parts is, so that everything stands where it stood.
std::string only(const std::vector<TextPart>& parts, const std::string& text) {
  std::string out(text.size(), ' ');
  for (const TextPart& part : parts)
    text.copy(out.data() + part.begin, part.end - part.begin, part.begin);
  return out;
}

// Text to the tokens that the grammar reads. Stops at the first filter that reports something.
bool tokenize(Sources& sources, uint32_t file, const ParseOptions& options, Lexemes& lexemes,
              Diags& diags) {
  const std::string& text = sources.files.at(file).text;
  lexemes = lex(options.parts.empty() ? text : only(options.parts, text), file);
  if (!check_lexemes(lexemes, diags) || !fill_options(lexemes, options.script_options, diags) ||
      !Preprocessor(sources, options, diags).run(lexemes) || !check_embedded(lexemes, diags) ||
      !check_lexemes(lexemes, diags) || !mark_angle_bodies(lexemes, diags) ||
      !check_brackets(lexemes, diags)) {
    return false;
  }
  retag(lexemes);
  return check_chains(lexemes, diags);
}

// A mistake right behind a macro's text is often the macro's: `1 +` and then what does not fit.
void show_macro_before(const Lexemes& lexemes, size_t at, Diag& diag) {
  if (at == 0) return;
  const Span& before = lexemes[at - 1].span;
  if (before.via == 0 || diag.span.via != 0) return;
  diag.labels.push_back({before, "behind this"});
}

}  // namespace

ast::Script parse(Sources& sources, uint32_t file, const ParseOptions& options, Diags& diags) {
  Lexemes lexemes;
  if (!tokenize(sources, file, options, lexemes, diags)) {
    return {};
  }
  // From here on brackets match, and one token tells what comes.
  if (lexemes.size() == 1) {
    diags.error("DJ1010", lexemes[0].span, "the script is empty").help =
        "a script is made of probes: probe func(\"name\") { statements }";
    return {};
  }
  ItemParser parser(lexemes);
  Builder builder(lexemes, sources, diags);
  while (!parser.at_end()) {
    size_t first = parser.position();
    if (DjtParser::ItemContext* item = parser.next()) {
      builder.add(item);
    } else {
      report_syntax(parser.error(), lexemes, first, diags);
      show_macro_before(lexemes, parser.error().at, diags.last());
      parser.skip_to_next_item(first);
    }
  }
  return builder.take();
}

std::string dump_tokens(Sources& sources, uint32_t file, const ParseOptions& options) {
  Lexemes lexemes;
  Diags diags;  // dumps show what is there; parse() reports
  tokenize(sources, file, options, lexemes, diags);
  std::string out;
  for (const Lexeme& lexeme : lexemes) {
    LineCol at = sources.files.at(file).line_col(lexeme.span.begin);
    std::string kind = symbolic_name(lexeme.type);
    out += fmt::format("{}:{} {}{}{}\n", at.line, at.column, kind, lexeme.text.empty() ? "" : " ",
                       lexeme.text);
  }
  return out;
}

}  // namespace dj
