// SPDX-License-Identifier: Apache-2.0
// Walks the bodies for calls.
#include "compiler/tapset/names_used.h"

#include "compiler/stages/walk_ast.h"
#include "stdlib/builtins.h"

namespace dj {

namespace {

struct Calls {
  NamesUsed& used;
  void operator()(const ast::Expr& expr) {
    if (const auto* call = std::get_if<ast::Call>(&expr.node)) used.functions.insert(call->name);
    if (const auto* target = std::get_if<ast::Target>(&expr.node)) used.texts |= target->pretty > 0;
    if (const auto* member = std::get_if<ast::Member>(&expr.node)) used.texts |= member->pretty > 0;
    ast::for_each_child(expr, *this);
  }
  void operator()(const ast::Stmt& stmt) { ast::for_each_child(stmt, *this); }
};

}  // namespace

NamesUsed names_used(const ast::Script& script) {
  NamesUsed used;
  Calls calls{used};
  for (const ast::FunctionDecl& function : script.functions) calls(*function.body);
  for (const ast::Probe& probe : script.probes) {
    calls(*probe.body);
    for (const ast::ProbePoint& point : probe.points) used.points.push_back(&point);
  }
  used.whole = used.points.size();
  for (const ast::Alias& alias : script.aliases) {
    if (alias.prologue) calls(*alias.prologue);
    if (alias.epilogue) calls(*alias.epilogue);
    for (const ast::ProbePoint& point : alias.points) used.points.push_back(&point);
  }
  for (const Builtin& row : builtins()) used.functions.erase(std::string(row.name));
  for (const ast::FunctionDecl& function : script.functions) used.functions.erase(function.name);
  for (const char* word : {"snapshot", "swap", "print", "println", "printf", "printd", "printdln",
                           "sprint", "sprintln", "sprintf", "sprintd", "sprintdln"}) {
    used.functions.erase(word);
  }
  return used;
}

}  // namespace dj
