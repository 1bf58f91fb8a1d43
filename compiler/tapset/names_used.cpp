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
    if (const auto* name = std::get_if<ast::Name>(&expr.node)) used.variables.insert(name->name);
    if (const auto* index = std::get_if<ast::Index>(&expr.node)) used.variables.insert(index->name);
    if (const auto* in = std::get_if<ast::In>(&expr.node)) used.variables.insert(in->array);
    if (const auto* call = std::get_if<ast::Call>(&expr.node)) used.functions.insert(call->name);
    if (const auto* target = std::get_if<ast::Target>(&expr.node)) used.texts |= target->pretty > 0;
    if (const auto* member = std::get_if<ast::Member>(&expr.node)) used.texts |= member->pretty > 0;
    ast::for_each_child(expr, *this);
  }
  void operator()(const ast::Stmt& stmt) {
    if (const auto* loop = std::get_if<ast::Foreach>(&stmt.node))
      used.variables.insert(loop->array);
    is_continued |= std::holds_alternative<ast::Next>(stmt.node);
    ast::for_each_child(stmt, *this);
  }
  bool is_continued = false;  // there was a `next`
};

void add_function(const ast::FunctionDecl& function, NamesUsed& used) {
  NamesUsed own;
  Calls calls{own};
  calls(*function.body);
  if (calls.is_continued) used.continued.emplace(function.name, function.params.size());
  for (const ast::Param& param : function.params) own.variables.erase(param.name);
  used.functions.merge(own.functions);
  used.variables.merge(own.variables);
  used.texts |= own.texts;
}

}  // namespace

NamesUsed names_used(const ast::Script& script) {
  NamesUsed used;
  Calls calls{used};
  for (const ast::FunctionDecl& function : script.functions) add_function(function, used);
  for (const ast::Probe& probe : script.probes) {
    calls(*probe.body);
    for (const ast::ProbePoint& point : probe.points) {
      used.points.push_back(&point);
      if (point.condition) calls(*point.condition);
    }
  }
  used.whole = used.points.size();
  for (const ast::Alias& alias : script.aliases) {
    if (alias.prologue) calls(*alias.prologue);
    if (alias.epilogue) calls(*alias.epilogue);
    for (const ast::ProbePoint& point : alias.points) used.points.push_back(&point);
  }
  for (const ast::GlobalDecl& global : script.globals) used.variables.erase(global.name);
  for (const Builtin& row : builtins()) used.functions.erase(std::string(row.name));
  for (const ast::FunctionDecl& function : script.functions) used.functions.erase(function.name);
  for (const char* word : {"snapshot", "swap", "print", "println", "printf", "printd", "printdln",
                           "sprint", "sprintln", "sprintf", "sprintd", "sprintdln"}) {
    used.functions.erase(word);
  }
  return used;
}

}  // namespace dj
