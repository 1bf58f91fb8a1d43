// SPDX-License-Identifier: Apache-2.0
// option(...) becomes its value before the preprocessor runs, so it may stand wherever a literal
// may: in a probe point, a declaration, a condition of %( ... %).
#include "compiler/parse/script_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "compiler/diag/diag.h"
#include "compiler/parse/lexeme.h"
#include "compiler/parse/literals.h"
#include "compiler/stages/print_ast.h"

namespace dj {

namespace {

// `name`: empty where the script has none yet.
std::string form(const std::string& name) {
  return fmt::format(
      "write option(\"{}\", 10, \"rows to show\"): a name, a default and a help text",
      name.empty() ? "limit" : name);
}

bool is_name(const std::string& name) {
  return !name.empty() && std::isalpha(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_'; });
}

bool is_number(const std::string& text) {
  Lexemes parts = lex(text, 0);
  size_t digits = parts.front().type == DjtParser::MINUS ? 1 : 0;
  if (parts.size() != digits + 2 || parts[digits].type != DjtParser::NUMBER) return false;
  return std::holds_alternative<uint64_t>(read_number(parts[digits].text));
}

// One option(...) while it is read.
class OptionReader {
 public:
  OptionReader(const Lexemes& in, ScriptOptions& options, Diags& diags)
      : in_(in), options_(options), diags_(diags) {}

  // in_[at] is `option`, in_[at + 1] a parenthesis. Returns the index behind it; 0: reported.
  size_t read(size_t at, Lexemes& out) {
    size_t i = at + 2;
    ScriptOption option;
    if (!text(i, option.name)) return fail(i);
    option.span = in_[i++].span;
    if (in_[i].type == DjtParser::RPAREN) return no_default(option, in_[i].span);
    if (!comma(i)) return fail(i);
    size_t minus = in_[i].type == DjtParser::MINUS ? 1 : 0;
    const Lexeme& value = in_[i + minus];
    option.is_number = value.type == DjtParser::NUMBER;
    if (!option.is_number && (minus == 1 || value.type != DjtParser::STRING)) return fail(i);
    option.fallback = (minus == 1 ? "-" : "") + value.text;
    Span place = value.span;
    i += minus + 1;
    if (comma(i)) {
      if (!text(i, option.help)) return fail(i);
      ++i;
    }
    if (in_[i].type != DjtParser::RPAREN) return fail(i);
    std::string chosen = option.fallback;
    if (!choose(option, chosen)) return 0;
    declare(std::move(option));
    for (Lexeme& part : lex(chosen, place.file)) {
      if (part.type == antlr4::Token::EOF) continue;
      out.push_back({part.type, place, part.text, true});
    }
    return i + 1;
  }

 private:
  bool text(size_t i, std::string& out) {
    if (in_[i].type != DjtParser::STRING) return false;
    out = decode_string(in_[i].text);
    return true;
  }
  bool comma(size_t& i) {
    bool is = in_[i].type == DjtParser::COMMA;
    i += is ? 1 : 0;
    return is;
  }
  size_t fail(size_t i) {
    diags_.error("DJ1030", in_[i].span, "an option is made of literals").help = form("");
    return 0;
  }
  size_t no_default(const ScriptOption& option, Span end) {
    Span whole = option.span;
    whole.end = end.end;
    diags_.error("DJ1030", whole, fmt::format("the option --{} has no default", option.name)).help =
        form(option.name);
    return 0;
  }

  // Whether the option can be; sets `chosen` to what the command line says.
  bool choose(const ScriptOption& option, std::string& chosen) {
    const std::string& name = option.name;
    if (!is_name(name)) {
      diags_.error("DJ1030", option.span, fmt::format("--{} cannot be an option", name)).help =
          "a name has letters, digits, - and _";
      return false;
    }
    if (std::find(options_.taken.begin(), options_.taken.end(), name) != options_.taken.end()) {
      diags_.error("DJ1030", option.span, fmt::format("djtap itself has an option --{}", name))
          .help = "give it another name";
      return false;
    }
    for (const ScriptOption& other : options_.declared) {
      if (other.name != name || other.fallback == option.fallback) continue;
      Diag& diag = diags_.error("DJ1030", option.span,
                                fmt::format("the option --{} has two defaults", name));
      diag.labels.push_back({other.span, "first declared here"});
      diag.help = "keep it in a global: global x = option(...)";
      return false;
    }
    auto given = options_.given.find(name);
    if (given == options_.given.end()) return true;
    if (option.is_number && !is_number(given->second)) {
      diags_.error("DJ1031", option.span,
                   fmt::format("--{} takes a number, not \"{}\"", name, given->second));
      return false;
    }
    chosen = option.is_number ? given->second : quote(given->second);
    return true;
  }

  void declare(ScriptOption option) {
    bool known = std::any_of(options_.declared.begin(), options_.declared.end(),
                             [&](const ScriptOption& o) { return o.name == option.name; });
    if (!known) options_.declared.push_back(std::move(option));
  }

  const Lexemes& in_;
  ScriptOptions& options_;
  Diags& diags_;
};

}  // namespace

bool fill_options(Lexemes& lexemes, ScriptOptions* wanted, Diags& diags) {
  auto begins = [&](size_t i) {
    return lexemes[i].type == DjtParser::ID && lexemes[i].text == "option" &&
           lexemes[i + 1].type == DjtParser::LPAREN &&
           (i == 0 || lexemes[i - 1].type != DjtParser::FUNCTION);
  };
  size_t first = 0;
  while (first + 1 < lexemes.size() && !begins(first)) ++first;
  if (first + 1 >= lexemes.size()) return true;
  ScriptOptions defaults;
  OptionReader reader(lexemes, wanted != nullptr ? *wanted : defaults, diags);
  Lexemes out(lexemes.begin(), lexemes.begin() + static_cast<ptrdiff_t>(first));
  for (size_t i = first; i < lexemes.size();) {
    if (i + 1 < lexemes.size() && begins(i)) {
      i = reader.read(i, out);
      if (i == 0) return false;
    } else {
      out.push_back(lexemes[i++]);
    }
  }
  lexemes = std::move(out);
  return true;
}

std::optional<StrangeOption> ScriptOptions::stranger() const {
  for (const auto& [name, value] : given) {
    bool known = std::any_of(declared.begin(), declared.end(),
                             [&name = name](const ScriptOption& o) { return o.name == name; });
    if (known) continue;
    std::vector<std::string> names = taken;
    for (const ScriptOption& option : declared) names.push_back(option.name);
    StrangeOption strange = {"--" + name, fmt::format("--{}={}", name, value), {}};
    for (const std::string& each : near_names(name, names))
      strange.near.push_back(fmt::format("--{}={}", each, value));
    return strange;
  }
  return std::nullopt;
}

std::string ScriptOptions::help() const {
  std::string text;
  for (const ScriptOption& option : declared) {
    std::string shown = fmt::format("--{}={}", option.name, option.is_number ? "NUMBER" : "TEXT");
    text += fmt::format("  {:<26}{}{}({})\n", shown, option.help, option.help.empty() ? "" : " ",
                        option.fallback);
  }
  return text;
}

}  // namespace dj
