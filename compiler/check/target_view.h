// SPDX-License-Identifier: Apache-2.0
// TargetView: a target expression as the syntax has it, in any of its spellings, before it becomes
// a TargetExpr of the Program. It points into the syntax, and lives no longer.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/check/pointer_types.h"
#include "compiler/stages/ast.h"
#include "compiler/stages/program.h"

namespace dj {

// A step behind a target expression's base, as ast::Access has it.
struct ViewStep {
  std::string_view field;
  const ast::Expr* index = nullptr;  // null: it is a field
  Span span;
};
std::vector<ViewStep> view_steps(std::span<const ast::Access> path);

// $x->a, @var("x@f.c")->a, @cast(p, "t")->a.
struct TargetView {
  TargetExpr::Base base = TargetExpr::Variable;
  std::string name, module;  // as in TargetExpr
  bool address_of = false;
  int pretty = 0;
  std::vector<ViewStep> path;
  const ast::Expr* pointer = nullptr;  // of a cast
  bool well_formed = true;             // the arguments of @var and @cast are what they take
  bool at_exit = false;                // inside of @exit(...)
  std::vector<TargetExpr> like;        // as in TargetExpr
};
// @var and @cast: they mean no place in the program, so every probe and function has them.
inline bool is_placeless(const TargetView& view) {
  return view.base == TargetExpr::Var || view.base == TargetExpr::Cast;
}
// None: `e` is no target expression.
std::optional<TargetView> target_view(const ast::Expr& e);
// p->a or p[i], where the script's p was assigned what points somewhere. None: it is not, or `e` no
// such expression.
std::optional<TargetView> pointer_view(const ast::Expr& e, const PointerTypes& pointers);
// name[i], by its form: of a local that points somewhere it is an element there.
bool is_element(const ast::Index& index);
// They have one value at every place, wherever they stand in the script.
bool same_target(const TargetExpr& a, const TargetExpr& b);

}  // namespace dj
