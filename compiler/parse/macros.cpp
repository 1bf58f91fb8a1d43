// SPDX-License-Identifier: Apache-2.0
// Expands macros, arguments and conditionals, one token after the other.
#include "compiler/parse/macros.h"

#include <fmt/format.h>

#include <algorithm>

namespace dj {

namespace {

constexpr size_t kMaxTokens = 2'000'000;
constexpr size_t kMaxNested = 200;  // of macros and conditionals within each other

bool is_mark(const Lexeme& lexeme, const char* text) {
  return lexeme.type == DjtParser::CONDITIONAL && lexeme.text == text;
}

// The index of `mark` that belongs to the %( before `i`, or `end`.
size_t find_mark(const Lexemes& in, size_t i, size_t end, const char* mark) {
  int depth = 0;
  for (; i < end; ++i) {
    if (depth == 0 && is_mark(in[i], mark)) {
      return i;
    }
    depth += is_mark(in[i], "%(") ? 1 : is_mark(in[i], "%)") ? -1 : 0;
    if (depth < 0) {
      return end;
    }
  }
  return end;
}

}  // namespace

bool is_operator(const std::string& name) {
  static const std::unordered_set<std::string> words = {
      "count", "sum", "min",     "max",   "avg",  "variance",    "hist_log",
      "cast",  "var", "defined", "entry", "exit", "hist_linear", "choose_defined",
      "p50",   "p90", "p95",     "p99",   "p999", "hist"};
  return words.count(name) != 0;
}

void Preprocessor::fail(const char* code, Span span, const std::string& message,
                        const std::string& help) {
  diags_.error(code, span, message).help = help;
  ok_ = false;
}

bool Preprocessor::run(Lexemes& lexemes) {
  Lexemes out;
  out.reserve(lexemes.size());
  Lexeme eof = lexemes.back();
  if (lexemes.size() > kMaxTokens) {
    fail("DJ1016", lexemes[kMaxTokens].span,
         fmt::format("a script has at most {} words and marks, this one has {}", kMaxTokens,
                     lexemes.size() - 1));
    return false;
  }
  expand({lexemes, nullptr, 0}, 0, lexemes.size() - 1, out);
  out.push_back(std::move(eof));
  lexemes = std::move(out);
  return ok_;
}

Lexeme Preprocessor::placed(const Lexeme& lexeme, const Scope& scope) {
  Lexeme copy = lexeme;
  copy.span.via = scope.via;
  return copy;
}

bool Preprocessor::expand(const Scope& scope, size_t begin, size_t end, Lexemes& out) {
  if (depth_ == kMaxNested) {
    fail("DJ1026", begin < scope.in.size() ? scope.in[begin].span : Span{},
         fmt::format("macros and conditionals stand more than {} deep in each other", kMaxNested));
    return false;
  }
  ++depth_;
  for (size_t i = begin; i < end && ok_;) {
    const Lexeme& lexeme = scope.in[i];
    if (++made_ > kMaxTokens) {
      fail("DJ1026", lexeme.span, "the macros of this script expand to too much text");
      break;
    }
    switch (lexeme.type) {
      case DjtParser::CONDITIONAL:
        i = conditional(scope, i, end, out);
        break;
      case DjtParser::ATWORD:
        i = word(scope, i, end, out);
        break;
      case DjtParser::ARGUMENT:
      case DjtParser::ARGUMENT_STRING:
      case DjtParser::ARGUMENT_COUNT:
      case DjtParser::ARGUMENT_COUNT_STRING:
        ok_ &= paste_argument(placed(lexeme, scope), options_.args, out, diags_);
        ++i;
        break;
      default:
        out.push_back(placed(lexeme, scope));
        ++i;
    }
  }
  --depth_;
  return ok_;
}

// "@name": a definition, a parameter of the macro around it, a macro, or an operator.
size_t Preprocessor::word(const Scope& scope, size_t i, size_t end, Lexemes& out) {
  std::string name = scope.in[i].text.substr(1);
  if (name == "define") {
    return define(scope, i, end);
  }
  if (scope.bindings != nullptr) {
    auto bound = scope.bindings->find(name);
    if (bound != scope.bindings->end()) {
      out.insert(out.end(), bound->second.begin(), bound->second.end());
      made_ += bound->second.size();
      return i + 1;
    }
  }
  if (const Macro* macro = find(name)) {
    return call(scope, i, end, *macro, out);
  }
  out.push_back(placed(scope.in[i], scope));
  return i + 1;
}

const Macro* Preprocessor::find(const std::string& name) {
  auto known = macros_.find(name);
  if (known == macros_.end() && options_.macro_file && !is_operator(name)) {
    std::optional<uint32_t> file = options_.macro_file(name);
    if (file && loaded_.insert(*file).second) {
      Lexemes library = lex(sources_.files.at(*file).text, *file);
      Lexemes nothing;
      expand({library, nullptr, 0}, 0, library.size() - 1, nothing);
      known = macros_.find(name);
    }
  }
  return known == macros_.end() ? nullptr : &known->second;
}

// @define name %( body %)        @define name(a, b) %( body with @a and @b %)
size_t Preprocessor::define(const Scope& scope, size_t i, size_t end) {
  const Lexemes& in = scope.in;
  const char* help = "write @define name(parameter, ...) %( text %)";
  auto at = [&](size_t index) -> const Lexeme& { return in[std::min(index, in.size() - 1)]; };
  size_t next = i + 1;
  if (next >= end || (at(next).type != DjtParser::ID && !is_keyword(at(next).type))) {
    fail("DJ1027", in[i].span, "expected the name of a macro behind @define", help);
    return end;
  }
  const Lexeme& name = at(next++);
  if (name.text == "define") {
    fail("DJ1027", name.span, "no macro can be named define: @define makes one", help);
    return end;
  }
  Macro macro;
  macro.name_span = name.span;
  if (next < end && at(next).type == DjtParser::LPAREN) {
    macro.takes_arguments = true;
    for (++next; next < end && at(next).type != DjtParser::RPAREN; ++next) {
      if (at(next).type == DjtParser::ID) {
        macro.params.push_back(at(next).text);
      } else if (at(next).type != DjtParser::COMMA) {
        fail("DJ1027", at(next).span, "expected the name of a macro's parameter", help);
        return end;
      }
    }
    ++next;
  }
  size_t close = next < end && is_mark(at(next), "%(") ? find_mark(in, next + 1, end, "%)") : end;
  if (close >= end) {
    fail("DJ1027", name.span, "the text of the macro @" + name.text + " is missing or not closed",
         help);
    return end;
  }
  macro.body.assign(in.begin() + static_cast<long>(next) + 1,
                    in.begin() + static_cast<long>(close));
  auto [known, added] = macros_.emplace(name.text, std::move(macro));
  if (!added && known->second.name_span.file == name.span.file) {
    fail("DJ1027", name.span, "the macro @" + name.text + " is defined twice");
    Diag& diag = diags_.last();
    diag.labels.push_back({known->second.name_span, "first defined here"});
  }
  return close + 1;
}

size_t Preprocessor::call(const Scope& scope, size_t i, size_t end, const Macro& macro,
                          Lexemes& out) {
  std::string name = scope.in[i].text.substr(1);
  Lexeme use = placed(scope.in[i], scope);
  if (active_.count(name) != 0) {
    fail("DJ1026", use.span, "the macro @" + name + " uses itself");
    return end;
  }
  size_t behind = i + 1;
  Bindings bindings;
  if (macro.takes_arguments) {
    std::optional<size_t> after = arguments(scope, i + 1, end, macro, bindings);
    if (!after) {
      return end;
    }
    behind = *after;
    use.span.end = scope.in[behind - 1].span.end;
  }
  sources_.expansions.push_back({use.span, name});
  active_.insert(name);
  Lexemes body = macro.body;  // a library that this body makes us read may move the macros
  uint32_t via = static_cast<uint32_t>(sources_.expansions.size());
  expand({body, &bindings, via}, 0, body.size(), out);
  active_.erase(name);
  return behind;
}

// "(a, b)" of a call: each argument is expanded where it stands. Returns the index behind the ')'.
size_t Preprocessor::split_arguments(const Scope& scope, size_t open, size_t end,
                                     std::vector<Lexemes>& given) {
  const Lexemes& in = scope.in;
  size_t first = open + 1, i = first;
  for (int depth = 0; i < end; ++i) {
    size_t type = in[i].type;
    bool closes = type == DjtParser::RPAREN || type == DjtParser::RBRACKET ||
                  type == DjtParser::RBRACE || is_mark(in[i], "%)");
    bool last = depth == 0 && type == DjtParser::RPAREN;
    if (last || (depth == 0 && type == DjtParser::COMMA)) {
      if (!last || i > first || !given.empty()) {
        expand(scope, first, i, given.emplace_back());
      }
      first = i + 1;
    }
    if (last) {
      break;
    }
    depth += closes ? -1
             : type == DjtParser::LPAREN || type == DjtParser::LBRACKET ||
                     type == DjtParser::LBRACE || is_mark(in[i], "%(")
                 ? 1
                 : 0;
  }
  return i;
}

std::optional<size_t> Preprocessor::arguments(const Scope& scope, size_t open, size_t end,
                                              const Macro& macro, Bindings& bindings) {
  const Lexemes& in = scope.in;
  Span use = placed(in[open - 1], scope).span;
  std::string name = in[open - 1].text;
  if (open >= end || in[open].type != DjtParser::LPAREN) {
    fail("DJ1026", use, fmt::format("the macro {} needs arguments in parentheses", name));
    return std::nullopt;
  }
  std::vector<Lexemes> given;
  const size_t close = split_arguments(scope, open, end, given);
  if (close >= end) {
    fail("DJ1007", in[open].span, "this '(' is never closed");
    return std::nullopt;
  }
  if (given.size() != macro.params.size()) {
    use.end = in[close].span.end;
    fail("DJ1026", use,
         fmt::format("the macro {} takes {} argument{}, got {}", name, macro.params.size(),
                     macro.params.size() == 1 ? "" : "s", given.size()));
    diags_.last().labels.push_back({macro.name_span, "defined here"});
    return std::nullopt;
  }
  for (size_t p = 0; p < given.size(); ++p) {
    bindings[macro.params[p]] = std::move(given[p]);
  }
  return close + 1;
}

// %( condition %? then %: else %); the text that is not chosen may hold anything that has tokens.
size_t Preprocessor::conditional(const Scope& scope, size_t i, size_t end, Lexemes& out) {
  const Lexemes& in = scope.in;
  Lexeme open = placed(in[i], scope);
  if (open.text != "%(") {
    fail("DJ1028", open.span, fmt::format("'{}' without a '%(' before it", open.text));
    return end;
  }
  size_t question = find_mark(in, i + 1, end, "%?");
  size_t close = question < end ? find_mark(in, question + 1, end, "%)") : end;
  if (close >= end) {
    bool modulo = i > 0 && in[i - 1].span.end == in[i].span.begin &&
                  (in[i - 1].type == DjtParser::ID || in[i - 1].type == DjtParser::NUMBER);
    fail("DJ1028", open.span,
         question < end ? "this '%(' is never closed" : "this '%(' has no '%?' behind it",
         modulo ? "for a remainder, write a blank between % and ("
                : "write %( condition %? text %: other text %)");
    return end;
  }
  size_t otherwise = std::min(find_mark(in, question + 1, close, "%:"), close);
  const size_t second = std::min(find_mark(in, question + 1, close, "%?"),
                                 find_mark(in, std::min(otherwise + 1, close), close, "%:"));
  if (second < close) {
    fail("DJ1028", in[second].span,
         fmt::format("a '%(' has one '%?' and at most one '%:', this '{}' is one too many",
                     in[second].text),
         "write %( condition %? text %: other text %)");
    return end;
  }
  Lexemes condition;
  if (!expand(scope, i + 1, question, condition)) {
    return end;
  }
  std::optional<bool> holds_now = holds(condition, open.span, diags_);
  ok_ &= holds_now.has_value();
  if (holds_now && *holds_now) {
    expand(scope, question + 1, otherwise, out);
  } else if (otherwise < close) {
    expand(scope, otherwise + 1, close, out);
  }
  return close + 1;
}

}  // namespace dj
