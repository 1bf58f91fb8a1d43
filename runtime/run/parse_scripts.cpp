// Each text is parsed alone.
#include "runtime/run/parse_scripts.h"

#include <algorithm>
#include <iterator>

#include "compiler/parse/tidy.h"
#include "runtime/run/say.h"

namespace dj {
namespace {

template <class T>
void append(std::vector<T>& to, std::vector<T>& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

ast::Script parse_scripts(const Options& options, Sources& sources, uint32_t file,
                          const ParseOptions& parsing, Diags& diags) {
  ast::Script script = parse(sources, file, parsing, diags);
  for (const std::string& text : options.more_scripts) {
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
int print_tidy(const Options& options, const Sources& sources, uint32_t file, const Diags& parsed) {
  const auto is_grammars = [&](const Diag& diag) {
    return diag.code >= "DJ1011" && diag.code <= "DJ1015" &&
           !sources.text(diag.span).starts_with('@');
  };
  if (std::any_of(parsed.all().begin(), parsed.all().end(), is_grammars))
    return print_diags(parsed, sources, options), kExitSyntax;
  Diags diags;
  std::string text = tidy(sources, file, diags);
  if (diags.ok()) show_script(text);
  print_diags(diags, sources, options);
  return diags.ok() ? kExitOk : kExitSyntax;
}

}  // namespace dj
