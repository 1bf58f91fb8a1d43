// SPDX-License-Identifier: Apache-2.0
// PointerTypes: what the script's own values point to, by what they were assigned: after
// `p = $list->head`, p->next is a member as of $list->head->next.
#pragma once
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/stages/ast.h"
#include "compiler/stages/program.h"

namespace dj {

// What names of the script may mean beside locals.
class ScriptNames {
 public:
  explicit ScriptNames(const ast::Script& script);

  std::unordered_set<std::string> globals;  // declared: values of whole sessions, without types
  std::unordered_multimap<std::string, const ast::FunctionDecl*> functions;

  // What the functions that a call may mean return; found for all when first asked for. They have
  // no target variables: their types mean no place.
  std::vector<TargetExpr> results(const ast::Call& call) const;

 private:
  mutable std::optional<std::unordered_map<const ast::FunctionDecl*, std::vector<TargetExpr>>>
      results_;
};

// Of one body of a function or probe. The names must live as long.
class PointerTypes {
 public:
  PointerTypes(const ast::Stmt& body, const ScriptNames& names);

  // The target expressions whose types the value may have; empty: none is known. Indexes that are
  // computed are 0 in them: a type does not depend on them.
  std::vector<TargetExpr> of(const ast::Expr& value) const;
  // The same of what the body returns.
  const std::vector<TargetExpr>& returned() const { return returned_; }

 private:
  std::vector<TargetExpr> of_name(const std::string& name) const;

  const ScriptNames& names_;
  std::unordered_map<std::string, std::vector<TargetExpr>> types_;  // of the body's names
  std::vector<TargetExpr> returned_;
};

}  // namespace dj
