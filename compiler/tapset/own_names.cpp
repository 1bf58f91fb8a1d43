// SPDX-License-Identifier: Apache-2.0
// Renames in place; '@' stands in no name that a script can write.
#include "compiler/tapset/own_names.h"

#include <algorithm>
#include <functional>
#include <map>

#include "compiler/stages/walk_ast.h"
#include "compiler/tapset/copy_ast.h"

namespace dj {

using namespace ast;

namespace {

using Renamed = std::map<std::string, std::string>;

// Calls `variable` and `function` with every spelling of a name in a body, to read or to change it.
struct Spellings {
  std::function<void(std::string&)> variable, function;

  void operator()(Expr& expr) {
    if (auto* name = std::get_if<Name>(&expr.node)) variable(name->name);
    if (auto* index = std::get_if<Index>(&expr.node)) variable(index->name);
    if (auto* in = std::get_if<In>(&expr.node)) variable(in->array);
    if (auto* call = std::get_if<Call>(&expr.node)) function(call->name);
    for_each_child(expr, *this);
  }
  void operator()(Stmt& stmt) {
    if (auto* loop = std::get_if<Foreach>(&stmt.node)) {
      for (LoopKey& key : loop->keys) variable(key.name);
      if (loop->value) variable(loop->value->name);
      variable(loop->array);
    }
    if (auto* attempt = std::get_if<Try>(&stmt.node)) variable(attempt->error);
    for_each_child(stmt, *this);
  }
};

std::function<void(std::string&)> by(const Renamed& names) {
  return [&names](std::string& spelled) {
    auto found = names.find(spelled);
    if (found != names.end()) spelled = found->second;
  };
}

void rename_conditions(std::vector<ProbePoint>& points, Spellings& rename) {
  for (ProbePoint& point : points) {
    if (!point.condition) continue;
    ExprPtr changed = copy(*point.condition);
    rename(*changed);
    point.condition = std::move(changed);
  }
}

// A parameter hides a global of its name.
Renamed without_params(Renamed names, const FunctionDecl& function) {
  for (const Param& param : function.params) names.erase(param.name);
  return names;
}

void rename_all(Script& script, const Renamed& variables, const Renamed& functions) {
  for (FunctionDecl& function : script.functions) {
    Renamed seen = without_params(variables, function);
    Spellings{by(seen), by(functions)}(*function.body);
    by(functions)(function.name);
  }
  Spellings rename{by(variables), by(functions)};
  for (GlobalDecl& global : script.globals) rename.variable(global.name);
  for (Probe& probe : script.probes) {
    rename_conditions(probe.points, rename);
    rename(*probe.body);
  }
  for (Alias& alias : script.aliases) {
    rename_conditions(alias.points, rename);
    if (alias.prologue) rename(*alias.prologue);
    if (alias.epilogue) rename(*alias.epilogue);
  }
}

// Every name that the script's own part spells where a variable may stand.
std::set<std::string> names_of_script(Script& script, size_t functions, size_t probes) {
  std::set<std::string> names;
  auto note = [&names](std::string& name) { names.insert(name); };
  Spellings gather{note, [](std::string&) {}};
  for (const GlobalDecl& global : script.globals) names.insert(global.name);
  for (size_t i = 0; i < functions; ++i) gather(*script.functions[i].body);
  for (size_t i = 0; i < probes; ++i) gather(*script.probes[i].body);
  for (Alias& alias : script.aliases) {  // their bodies become part of the script's probes
    if (alias.prologue) gather(*alias.prologue);
    if (alias.epilogue) gather(*alias.epilogue);
  }
  return names;
}

}  // namespace

std::string hidden_name(const std::string& name, const std::string& file) {
  return name + "@" + file;
}

void hide_private_names(Script& part, const std::string& file, PrivateNames& names) {
  for (const GlobalDecl& global : part.globals) {
    if (global.is_private) names.variables.insert(global.name);
  }
  for (const FunctionDecl& function : part.functions) {
    if (function.is_private) names.functions.insert(function.name);
  }
  Renamed variables, functions;
  for (const std::string& name : names.variables) variables[name] = hidden_name(name, file);
  for (const std::string& name : names.functions) functions[name] = hidden_name(name, file);
  if (!variables.empty() || !functions.empty()) rename_all(part, variables, functions);
}

void part_locals(Script& script, size_t functions, size_t probes,
                 const std::set<std::string>& shared) {
  std::set<std::string> taken = names_of_script(script, functions, probes);
  Renamed apart;
  for (const std::string& name : taken) {
    if (!shared.contains(name)) apart[name] = name + "@tapset";
  }
  auto no_function = [](std::string&) {};
  for (size_t i = functions; i < script.functions.size(); ++i) {
    Renamed seen = without_params(apart, script.functions[i]);
    Spellings{by(seen), no_function}(*script.functions[i].body);
  }
  Spellings rename{by(apart), no_function};
  for (size_t i = probes; i < script.probes.size(); ++i) rename(*script.probes[i].body);
}

}  // namespace dj
