// Each judgement is a start of djtap as far as the check, without a target.
#include "runtime/run/editor.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include "compiler/check/check.h"
#include "compiler/check/signature.h"
#include "compiler/language_server.h"
#include "compiler/parse/lexeme.h"
#include "compiler/parse/parse.h"
#include "compiler/parse/tidy.h"
#include "compiler/tapset/library.h"
#include "runtime/lua/lua_tapset.h"
#include "runtime/run/expand.h"
#include "runtime/run/lazy_target.h"
#include "stdlib/builtins.h"

namespace dj {
namespace {

void judge_as(const Options& options, Sources& sources, uint32_t file, Diags& diags) {
  sigset_t none;
  sigemptyset(&none);
  LazyTarget target(options, none);
  TypePrinters printers;
  TapsetLibrary library(sources, tapset_folders(options.include),
                        run_lua_tapsets(
                            sources, [&] { return target.index(); }, printers));
  ScriptOptions script_options{options.script_options, options.own_names, {}};
  const ParseOptions parsing{options.script_args,
                             [&](const std::string& macro) { return library.macro_file(macro); },
                             &script_options};
  ast::Script script = parse(sources, file, parsing, diags);
  if (diags.ok()) library.complete(script, diags);
  if (diags.ok()) expand(options, script, sources, diags);
  if (diags.ok())
    check(script, {options.strict || sources.files.at(file).name.ends_with(".stp")}, diags);
}

std::vector<std::string> judge(const Options& options, const std::string& name,
                               const std::string& text) {
  Sources sources;
  Diags diags;
  judge_as(options, sources, sources.add(name, text), diags);
  std::vector<std::string> told;
  for (const Diag& diag : diags.all()) told.push_back(render_json(diag, sources));
  return told;
}

std::optional<std::string> tidied(const std::string& text) {
  Sources sources;
  Diags diags;
  const uint32_t file = sources.add("", text);
  std::string tidy_text = tidy(sources, file, diags);
  if (!diags.ok()) return std::nullopt;
  return tidy_text;
}

std::vector<EditorWord> words() {
  std::vector<EditorWord> all;
  for (const auto* keywords : {&item_keywords(), &statement_keywords()}) {
    for (const std::string& word : *keywords) all.push_back({word, ""});
  }
  for (const Builtin& builtin : builtins()) {
    const Signature signature = parse_signature(builtin.signature);
    const std::string form = prototype(builtin.name, signature);
    const bool gives = signature.result != Type::Void;
    all.push_back({std::string(builtin.name),
                   gives ? fmt::format("{}: {}", form, type_words(signature.result)) : form});
  }
  return all;
}

}  // namespace

int serve_scripts(const Options& options) {
  return serve_editor(
      STDIN_FILENO, STDOUT_FILENO,
      {[&](const std::string& name, const std::string& text) { return judge(options, name, text); },
       tidied, words()});
}

}  // namespace dj
