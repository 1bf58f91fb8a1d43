// SPDX-License-Identifier: Apache-2.0
// Places of Lua's errors: whole lines.
#include "runtime/lua/lua_failure.h"

#include <algorithm>

namespace dj {
namespace {

const char* code_of(LuaFailure::Kind kind) {
  switch (kind) {
    case LuaFailure::Kind::Syntax:
      return "DJ5101";
    case LuaFailure::Kind::Run:
      return "DJ5102";
    default:
      return "DJ5103";
  }
}

// The text of a line, without the spaces before it; 0: nothing.
Span span_of(const std::string& text, uint32_t file, uint32_t line) {
  size_t begin = 0;
  for (uint32_t i = 1; i < line && begin != std::string::npos; ++i) {
    begin = text.find('\n', begin);
    if (begin != std::string::npos) ++begin;
  }
  begin = std::min(text.find_first_not_of(" \t", begin), text.size());
  size_t end = std::min(text.find('\n', begin), text.size());
  return {file, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
}

}  // namespace

bool report_failure(const std::optional<LuaFailure>& failed, const Sources& sources, uint32_t file,
                    Diags& diags) {
  if (!failed) return true;
  const std::string& text = sources.files[file].text;
  Diag& diag =
      diags.error(code_of(failed->kind), span_of(text, file, failed->line), failed->message);
  diag.no_span = failed->line == 0;
  for (uint32_t line : failed->callers) {
    if (diag.labels.size() < 3 && line != failed->line)
      diag.labels.push_back({span_of(text, file, line), "called from here"});
  }
  if (failed->kind == LuaFailure::Kind::Run &&
      failed->message.find("global '") != std::string::npos)
    diag.help =
        "Lua files have string, table, math, utf8 and dj; there are no files, processes or code "
        "to load";
  return false;
}

}  // namespace dj
