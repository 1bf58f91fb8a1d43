// SPDX-License-Identifier: Apache-2.0
// Test support: a script with the expected span marked by « and », parsed and checked.
#pragma once
#include <string>

#include "compiler/check/check.h"
#include "compiler/parse/parse.h"

namespace dj {

struct Checked {
  Sources sources;
  Diags diags;
  Program program;
  Span marked;  // what stood between the marks

  std::string rendered() const {
    std::string all;
    for (const Diag& diag : diags.all()) all += render(diag, sources, false);
    return all;
  }
};

inline Checked check_text(std::string text, bool strict = false) {
  Checked checked;
  size_t begin = text.find("«");
  if (begin != std::string::npos) {
    text.erase(begin, 2);
    size_t end = text.find("»", begin);
    text.erase(end, 2);
    checked.marked = {0, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
  }
  uint32_t file = checked.sources.add("test.djt", std::move(text));
  ast::Script script = parse(checked.sources, file, {}, checked.diags);
  if (checked.diags.ok()) checked.program = check(script, {strict}, checked.diags);
  return checked;
}

}  // namespace dj
