// PointerTypes: what the script's own values point to, by what they were assigned: after
// `p = $list->head`, p->next is a member as of $list->head->next.
#pragma once
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/ast.h"
#include "compiler/program.h"

namespace dj {

using NameSet = std::unordered_set<std::string>;
// The script's declared globals: values of whole sessions, which have no such types.
NameSet declared_globals(const ast::Script& script);

// Looks into one body of a function or probe, which must live as long.
class PointerTypes {
 public:
  PointerTypes(const ast::Stmt& body, const NameSet& globals);

  // The target expressions whose types the value may have; empty: none is known. Indexes that are
  // computed are 0 in them: a type does not depend on them.
  std::vector<TargetExpr> of(const ast::Expr& value) const;

 private:
  using Known = std::unordered_map<std::string, std::vector<TargetExpr>>;

  std::vector<TargetExpr> find(const ast::Expr& value, Known& known) const;
  std::vector<TargetExpr> of_local(const std::string& name, Known& known) const;

  std::unordered_map<std::string, std::vector<const ast::Expr*>> assigned_;
};

}  // namespace dj
