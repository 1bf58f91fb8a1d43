// SPDX-License-Identifier: Apache-2.0
// Written as a script of declarations, and parsed.
#include "compiler/tapset/script_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>

#include "compiler/parse/parse.h"
#include "compiler/stages/walk_ast.h"

namespace dj {
namespace {

constexpr size_t kMostWords = 32;  // argv_1 .. argv_32, as there

std::string literal(const std::string& word) {
  std::string text = "\"";
  for (unsigned char c : word) text += fmt::format("\\{:03o}", c);
  return text + "\"";
}

// n of argv_n; 0: it is another name.
size_t number_of(const std::string& name) {
  if (!name.starts_with("argv_") || name.find_first_not_of("0123456789", 5) != std::string::npos)
    return 0;
  size_t n = std::strtoull(name.c_str() + 5, nullptr, 10);
  return n <= kMostWords && name == fmt::format("argv_{}", n) ? n : 0;
}

// The names that a script has: those that it reads, arrays, and those that it sets itself.
struct Names {
  std::set<std::string> scalars, arrays, own;

  void operator()(const ast::Expr& expr) {
    if (const auto* name = std::get_if<ast::Name>(&expr.node)) scalars.insert(name->name);
    if (const auto* index = std::get_if<ast::Index>(&expr.node)) arrays.insert(index->name);
    if (const auto* in = std::get_if<ast::In>(&expr.node)) arrays.insert(in->array);
    if (const auto* assign = std::get_if<ast::Assign>(&expr.node)) set(*assign->left);
    if (const auto* crement = std::get_if<ast::Crement>(&expr.node)) set(*crement->operand);
    ast::for_each_child(expr, *this);
  }
  void operator()(const ast::Stmt& stmt) {
    if (const auto* loop = std::get_if<ast::Foreach>(&stmt.node)) arrays.insert(loop->array);
    ast::for_each_child(stmt, *this);
  }
  void set(const ast::Expr& expr) {
    if (const auto* name = std::get_if<ast::Name>(&expr.node)) own.insert(name->name);
  }
};

Names names_of(const ast::Script& script) {
  Names names;
  for (const ast::GlobalDecl& global : script.globals) names.own.insert(global.name);
  for (const ast::FunctionDecl& function : script.functions) {
    for (const ast::Param& parameter : function.params) names.own.insert(parameter.name);
    names(*function.body);
  }
  for (const ast::Probe& probe : script.probes) names(*probe.body);
  return names;
}

std::string fill(const std::vector<std::string>& words) {
  std::string text = "global argv\nprobe begin(-9223372036854775807) {\n";
  if (words.empty()) text += "  if (0) argv[1] = \"\"\n";  // its elements are texts
  for (size_t i = 0; i < words.size(); ++i)
    text += fmt::format("  argv[{}] = {}\n", i + 1, literal(words[i]));
  return text + "}\n";
}

}  // namespace

void add_script_words(ast::Script& script, const std::vector<std::string>& words, Sources& sources,
                      Diags& diags) {
  const Names names = names_of(script);
  std::string text;
  if (names.arrays.contains("argv") && !names.own.contains("argv")) text += fill(words);
  for (const std::string& name : names.scalars) {
    if (names.own.contains(name)) continue;
    if (name == "argc") text += fmt::format("global argc = {}\n", words.size());
    const size_t n = number_of(name);
    if (n > 0)
      text +=
          fmt::format("global {} = {}\n", name, n <= words.size() ? literal(words[n - 1]) : "\"\"");
  }
  if (text.empty()) return;
  ast::Script made = parse(sources, sources.add("<arguments>", text), {}, diags);
  std::move(made.globals.begin(), made.globals.end(), std::back_inserter(script.globals));
  std::move(made.probes.begin(), made.probes.end(), std::back_inserter(script.probes));
}

}  // namespace dj
