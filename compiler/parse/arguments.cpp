// SPDX-License-Identifier: Apache-2.0
// Script arguments: $1 becomes the argument's own tokens, @1 a string; $# and @# their number.
#include <fmt/format.h>

#include <charconv>

#include "compiler/parse/macros.h"
#include "compiler/stages/print_ast.h"

namespace dj {

namespace {

// The argument that "$12" or "@12" names, 1-based; 0 or huge ones name none.
size_t argument_number(const std::string& text) {
  size_t number = 0;
  auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), number);
  return error == std::errc() ? number : SIZE_MAX;
}

void report_missing(const Lexeme& lexeme, size_t given, Diags& diags) {
  const char* plural = given == 1 ? "argument was" : "arguments were";
  std::string count = given == 0 ? "no" : fmt::format("only {}", given);
  Diag& diag =
      diags.error("DJ1006", lexeme.span,
                  fmt::format("the script uses {}, but {} {} given", lexeme.text, count, plural));
  diag.help = argument_number(lexeme.text) == 0 ? "the first argument is $1"
                                                : "give it behind the script: djtap script.djt ARG";
}

void paste(const Lexeme& place, const std::string& text, Lexemes& out) {
  Lexemes pasted = lex(text, place.span.file);
  pasted.pop_back();  // its EOF
  for (Lexeme& lexeme : pasted) {
    lexeme.span = place.span;
    lexeme.pasted = true;
    out.push_back(std::move(lexeme));
  }
}

}  // namespace

bool paste_argument(const Lexeme& lexeme, const std::vector<std::string>& args, Lexemes& out,
                    Diags& diags) {
  if (lexeme.type == DjtParser::ARGUMENT_COUNT) {
    out.push_back({DjtParser::NUMBER, lexeme.span, std::to_string(args.size()), true});
    return true;
  }
  if (lexeme.type == DjtParser::ARGUMENT_COUNT_STRING) {
    out.push_back({DjtParser::STRING, lexeme.span, quote(std::to_string(args.size())), true});
    return true;
  }
  size_t number = argument_number(lexeme.text);
  if (number == 0 || number > args.size()) {
    report_missing(lexeme, args.size(), diags);
    return false;
  }
  if (lexeme.type == DjtParser::ARGUMENT) {
    paste(lexeme, args[number - 1], out);
  } else {
    out.push_back({DjtParser::STRING, lexeme.span, quote(args[number - 1]), true});
  }
  return true;
}

}  // namespace dj
