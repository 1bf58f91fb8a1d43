// SPDX-License-Identifier: Apache-2.0
// A value is a number where it looks like one and the script says nothing else.
#include "compiler/check/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <optional>

namespace dj {
namespace {

std::optional<int64_t> number(const std::string& text) {
  char* end = nullptr;
  errno = 0;
  long long value = std::strtoll(text.c_str(), &end, 0);
  bool whole = !text.empty() && *end == 0 && errno == 0 && text[0] != ' ';
  return whole ? std::optional<int64_t>(value) : std::nullopt;
}

std::string unquoted(const std::string& text) {
  bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return quoted ? text.substr(1, text.size() - 2) : text;
}

ast::GlobalDecl* find(ast::Script& script, const std::string& name, Span span, Diags& diags) {
  std::vector<std::string> names;
  for (ast::GlobalDecl& global : script.globals) {
    if (global.name == name) return &global;
    names.push_back(global.name);
  }
  Diag& diag = diags.error("DJ2033", span, fmt::format("no global `{}` is declared", name));
  diag.suggest(near_names(name, names));
  if (diag.help.empty()) diag.help = fmt::format("the script has to say: global {}", name);
  return nullptr;
}

void set(ast::GlobalDecl& global, const std::string& text, Span span, Diags& diags) {
  if (global.capacity || global.wrap) {
    Diag& diag = diags.error("DJ2033", span, "only a scalar global can be set");
    diag.labels.push_back({global.span, "an array, because of its size"});
    return;
  }
  bool was_text = global.init && std::holds_alternative<ast::String>(global.init->node);
  std::optional<int64_t> value = was_text ? std::nullopt : number(text);
  if (global.init && !was_text && !value) {
    Diag& diag = diags.error("DJ2033", span, fmt::format("`{}` is a number", global.name));
    diag.labels.push_back({global.init->span, "by its initial value"});
    return;
  }
  auto init = std::make_unique<ast::Expr>();
  init->span = span;
  if (value)
    init->node = ast::Number{*value};
  else
    init->node = ast::String{unquoted(text)};
  global.init = std::move(init);
}

}  // namespace

void set_globals(ast::Script& script, const std::vector<std::string>& settings, Sources& sources,
                 Diags& diags) {
  for (const std::string& setting : settings) {
    uint32_t file = sources.add("<-G>", setting);
    auto length = static_cast<uint32_t>(setting.size());
    size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0) {
      diags.error("DJ2033", {file, 0, length}, "-G takes NAME=VALUE");
      continue;
    }
    auto behind = static_cast<uint32_t>(equals);
    Span name{file, 0, behind}, value{file, behind + 1, length};
    ast::GlobalDecl* global = find(script, setting.substr(0, equals), name, diags);
    if (global != nullptr) set(*global, setting.substr(equals + 1), value, diags);
  }
}

}  // namespace dj
