// SPDX-License-Identifier: Apache-2.0
// Finds aliases by a pattern, and their variables by the assignments in their bodies.
#include "compiler/tapset/alias_names.h"

#include <map>

#include "compiler/stages/print_ast.h"
#include "compiler/stages/walk_ast.h"
#include "compiler/tapset/aliases.h"

namespace dj {

using namespace ast;

namespace {

// Adds each local that the code sets; names with '_' in front are the tapset's own.
struct SetNames {
  std::set<std::string>& names;

  void operator()(const Expr& expr) {
    const auto* assign = std::get_if<Assign>(&expr.node);
    const auto* name = assign ? std::get_if<Name>(&assign->left->node) : nullptr;
    if (name && name->name.front() != '_') names.insert(name->name);
    for_each_child(expr, *this);
  }
  void operator()(const Stmt& stmt) { for_each_child(stmt, *this); }
};

class Collector {
 public:
  explicit Collector(const Script& script) : script_(script) {}

  void add(const Alias& alias, std::set<std::string>& names) {
    if (!inside_.insert(&alias).second) return;
    SetNames found{names};
    if (alias.prologue) found(*alias.prologue);
    if (alias.epilogue) found(*alias.epilogue);
    for (const ProbePoint& point : alias.points) {
      for (const Alias& other : script_.aliases) {
        size_t used = 0;
        for (const ProbePoint& name : other.names) {
          if (uses_alias(point, name, used)) add(other, names);
        }
      }
    }
    inside_.erase(&alias);
  }

 private:
  const Script& script_;
  std::set<const Alias*> inside_;  // whose points are being looked at
};

}  // namespace

std::vector<AliasName> aliases_meant(const ProbePoint& point, const Script& script) {
  std::map<std::string, std::set<std::string>> whole, begun;
  Collector collector(script);
  for (const Alias& alias : script.aliases) {
    for (ProbePoint name : alias.names) {
      size_t used = 0;
      if (!uses_alias(point, name, used)) continue;
      auto& found = used == point.components.size() ? whole : begun;
      name.components.insert(name.components.end(), point.components.begin() + long(used),
                             point.components.end());
      collector.add(alias, found[print(name)]);
    }
  }
  whole.merge(begun);  // of one name, the longer alias is meant
  std::vector<AliasName> names;
  for (auto& [name, variables] : whole) names.push_back({name, std::move(variables)});
  return names;
}

}  // namespace dj
