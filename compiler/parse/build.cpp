// SPDX-License-Identifier: Apache-2.0
// Builder: what all families of rules share.
#include "compiler/parse/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "compiler/parse/literals.h"

namespace dj {

const Lexeme& Builder::lexeme(const antlr4::Token* token) const {
  return lexemes_.at(token->getTokenIndex());
}

const Lexeme& Builder::lexeme(antlr4::tree::TerminalNode* node) const {
  return lexeme(node->getSymbol());
}

Span Builder::span(const antlr4::ParserRuleContext* ctx) const {
  Span first = span(ctx->start);
  // A rule that matched nothing stops before it starts.
  const antlr4::Token* stop = ctx->stop;
  Span last = stop != nullptr ? span(stop) : first;
  return sources_.join(first, {last.file, last.begin, std::max(last.begin, last.end), last.via});
}

std::string Builder::string_value(DjtParser::StringContext* ctx) const {
  std::string value = decode_string(text(ctx->STRING()));
  for (antlr4::tree::TerminalNode* more : ctx->STRING_MORE()) {
    value += decode_string(text(more));
  }
  return value;
}

int64_t Builder::number(const antlr4::Token* token, bool negative) {
  const Lexeme& written = lexeme(token);
  std::variant<uint64_t, BadNumber> read = read_number(written.text);
  if (const uint64_t* value = std::get_if<uint64_t>(&read)) {
    if (!negative || *value <= uint64_t{1} << 63) {
      return static_cast<int64_t>(negative ? 0 - *value : *value);
    }
    read = BadNumber::TooLarge;
  }
  if (std::get<BadNumber>(read) == BadNumber::TooLarge) {
    diags_.error("DJ1005", written.span, "the number " + written.text + " does not fit in 64 bits");
    return 0;
  }
  Diag& diag = diags_.error("DJ1004", written.span, "malformed number " + written.text);
  bool octal = written.text[0] == '0' && written.text.size() > 1 && written.text[1] != 'x';
  diag.help = octal ? "a number that begins with 0 has octal digits, 0 to 7"
                    : "numbers are 10, 0x1f or 017; a name begins with a letter";
  return 0;
}

ast::ExprPtr Builder::literal(DjtParser::LiteralContext* ctx) {
  auto result = std::make_unique<ast::Expr>();
  result->span = span(ctx);
  if (ctx->string() != nullptr) {
    result->node = ast::String{string_value(ctx->string())};
  } else {
    result->node = ast::Number{number(ctx->NUMBER(), ctx->SIGN_MINUS() != nullptr)};
  }
  return result;
}

double Builder::fraction(antlr4::tree::TerminalNode* node, bool negative) {
  const std::string written = text(node);
  double value = 0;
  auto [end, error] = std::from_chars(written.data(), written.data() + written.size(), value);
  if (error != std::errc()) {
    diags_.error("DJ1005", span(node), "the number " + written + " does not fit in a double");
  }
  return negative ? -value : value;
}

ast::ExprPtr Builder::initial(DjtParser::InitialContext* ctx) {
  auto result = std::make_unique<ast::Expr>();
  result->span = span(ctx);
  const bool negative = ctx->SIGN_MINUS() != nullptr;
  if (ctx->string() != nullptr) {
    result->node = ast::String{string_value(ctx->string())};
  } else if (ctx->FRACTION() != nullptr) {
    result->node = ast::Fraction{fraction(ctx->FRACTION(), negative)};
  } else {
    result->node = ast::Number{number(ctx->NUMBER(), negative)};
  }
  return result;
}

void Builder::add(DjtParser::ItemContext* item) {
  if (item->globalDef() != nullptr) {
    add_global(item->globalDef());
  } else if (item->functionDef() != nullptr) {
    add_function(item->functionDef());
  } else if (item->probeDef() != nullptr) {
    add_probe(item->probeDef());
  }
}

ast::Script Builder::take() {
  for (const Suspect& suspect : suspects_) {
    bool declared = std::any_of(
        script_.functions.begin(), script_.functions.end(),
        [&](const ast::FunctionDecl& function) { return function.name == suspect.name; });
    if (!declared) {
      diags_.error("DJ1015", suspect.span, fmt::format("unknown statement \"{}\"", suspect.name))
          .suggest({suspect.meant});
    }
  }
  return std::move(script_);
}

}  // namespace dj
