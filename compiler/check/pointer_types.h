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

// What names of the script may mean beside locals.
struct ScriptNames {
  explicit ScriptNames(const ast::Script& script);

  std::unordered_set<std::string> globals;  // declared: values of whole sessions, without types
  std::unordered_multimap<std::string, const ast::FunctionDecl*> functions;
};

// Looks into one body of a function or probe. That and the names must live as long.
class PointerTypes {
 public:
  PointerTypes(const ast::Stmt& body, const ScriptNames& names);

  // The target expressions whose types the value may have; empty: none is known. Indexes that are
  // computed are 0 in them: a type does not depend on them.
  std::vector<TargetExpr> of(const ast::Expr& value) const;

 private:
  // What is being looked for, and what was found of it so far.
  struct Known {
    std::unordered_map<std::string, std::vector<TargetExpr>> locals;
    std::unordered_set<const ast::FunctionDecl*> functions;
  };

  std::vector<TargetExpr> find(const ast::Expr& value, Known& known) const;
  std::vector<TargetExpr> of_local(const std::string& name, Known& known) const;
  std::vector<TargetExpr> of_call(const ast::Call& call, Known& known) const;

  const ScriptNames& names_;
  std::unordered_map<std::string, std::vector<const ast::Expr*>> assigned_;
  std::vector<const ast::Expr*> returned_;
};

}  // namespace dj
