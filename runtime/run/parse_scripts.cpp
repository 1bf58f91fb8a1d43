// SPDX-License-Identifier: Apache-2.0
// Each text is parsed alone.
#include "runtime/run/parse_scripts.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "compiler/base/printable.h"
#include "compiler/parse/tidy.h"
#include "runtime/output/messages.h"
#include "runtime/run/show.h"

namespace dj {
namespace {

template <class T>
void append(std::vector<T>& to, std::vector<T>& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

// Whether a text has $n, @n or one of the words that mean all arguments: $# and @#, argc and argv.
bool asks_for(std::string_view text, size_t n) {
  for (size_t at = 0; (at = text.find_first_of("$@a", at)) != text.npos; ++at) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("argv") || rest.starts_with("argc") || rest.substr(1).starts_with('#'))
      return true;
    const size_t digits = std::min(rest.find_first_not_of("0123456789", 1), rest.size()) - 1;
    if (rest.substr(1, digits) == std::to_string(n)) return true;
  }
  return false;
}

// How `word` becomes a process of -p, if it looks like one: as by `-p $(pidof NAME)`.
std::string several_as_one_word(const TargetChoices& target, const std::string& word) {
  const bool is_number = word.find_first_not_of("0123456789") == std::string::npos;
  if (target.pids.empty() || !is_number) return "";
  return fmt::format("; several processes are one word: -p {},{}", target.pids.back(), word);
}

}  // namespace

void warn_of_unused_words(const ScriptChoices& script, const TargetChoices& target,
                          std::string_view text) {
  for (size_t i = 0; i < script.arguments.size(); ++i) {
    const auto asks = [n = i + 1](std::string_view each) { return asks_for(each, n); };
    if (asks(text) || std::ranges::any_of(script.more, asks)) continue;
    report_warning("DJ0901",
                   fmt::format("the argument {} is not used: the script has no ${} and no @{}{}",
                               printable(script.arguments[i]), i + 1, i + 1,
                               several_as_one_word(target, script.arguments[i])));
  }
}

ast::Script parse_scripts(const ScriptChoices& choices, Sources& sources, uint32_t file,
                          const ParseOptions& parsing, Diags& diags) {
  ast::Script script = parse(sources, file, parsing, diags);
  for (const std::string& text : choices.more) {
    ast::Script more = parse(sources, sources.add("<-E>", text), parsing, diags);
    append(script.globals, more.globals);
    append(script.functions, more.functions);
    append(script.probes, more.probes);
    append(script.aliases, more.aliases);
  }
  return script;
}

// What is no sentence of the grammar is not tidied; what only
// a run has ($1), and what djtap has not (C code, SystemTap's macros), may stand in what is.
int print_tidy(const Sources& sources, uint32_t file, const Diags& parsed) {
  const auto is_grammars = [&](const Diag& diag) {
    return diag.code >= "DJ1011" && diag.code <= "DJ1015" &&
           !sources.text(diag.span).starts_with('@');
  };
  if (std::any_of(parsed.all().begin(), parsed.all().end(), is_grammars))
    return report_all(parsed, sources), kExitSyntax;
  Diags diags;
  std::string text = tidy(sources, file, diags);
  if (diags.ok()) show_script(text);
  report_all(diags, sources);
  return diags.ok() ? kExitOk : kExitSyntax;
}

}  // namespace dj
