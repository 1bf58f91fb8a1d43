// SPDX-License-Identifier: Apache-2.0
// What scripts are verdicts by is check_script(); what they may say, the tables of words.
#include "runtime/run/editor.h"

#include <fmt/format.h>
#include <unistd.h>

#include "compiler/check/signature.h"
#include "compiler/editor/language_server.h"
#include "compiler/parse/keywords.h"
#include "compiler/parse/tidy.h"
#include "runtime/run/check_script.h"
#include "stdlib/builtins.h"

namespace dj {
namespace {

// What is wrong with a script, as objects. check: what finds it.
std::vector<std::string> judge(const CheckText& check, const std::string& name,
                               const std::string& text) {
  Sources sources;
  Diags diags;
  check(sources, sources.add(name, text), diags);
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

int serve_scripts(const ScriptChoices& script, const TargetChoices& target, size_t many) {
  const CheckText check = [&](Sources& sources, uint32_t file, Diags& diags) {
    check_script(script, target, many, sources, file, diags);
  };
  return serve_editor(
      STDIN_FILENO, STDOUT_FILENO,
      {[&](const std::string& name, const std::string& text) { return judge(check, name, text); },
       tidied, words()});
}

}  // namespace dj
