// SPDX-License-Identifier: Apache-2.0
// Arming conditions: what djtap can decide by itself at any moment, without the program and without
// side effects.
#include <fmt/format.h>

#include "compiler/check/forms.h"
#include "compiler/stages/walk_ast.h"

namespace dj {
namespace {

// The first thing in a condition that does not belong there.
struct Outsider {
  const Notes& notes;
  std::optional<Span> found;
  std::string what, declaration;  // the latter: of a name

  void refuse(Span span, std::string text) {
    if (found) return;
    found = span;
    what = std::move(text);
  }
  void operator()(const ast::Stmt&) {}
  void operator()(const ast::Expr& e) {
    if (const auto* name = std::get_if<ast::Name>(&e.node)) {
      if (!notes.globals.contains(name->name)) {
        if (!found) declaration = fmt::format("declare it: global {}; ", name->name);
        refuse(e.span, fmt::format("`{}` is not a global", name->name));
      }
    } else if (std::holds_alternative<ast::Target>(e.node) ||
               std::holds_alternative<ast::Member>(e.node)) {
      refuse(e.span, "an arming condition cannot look at the program");
    } else if (std::holds_alternative<ast::Call>(e.node)) {
      refuse(e.span, "an arming condition cannot call functions");
    } else if (std::holds_alternative<ast::Assign>(e.node) ||
               std::holds_alternative<ast::Crement>(e.node)) {
      refuse(e.span, "an arming condition cannot change anything");
    } else if (std::holds_alternative<ast::At>(e.node)) {
      refuse(e.span, "an arming condition cannot ask aggregates");
    }
    ast::for_each_child(e, *this);
  }
};

}  // namespace

ExprPtr bind_arming_condition(Binder& binder, const ast::Expr& e) {
  Outsider outsider{binder.notes, std::nullopt, "", ""};
  outsider(e);
  if (!outsider.found) return binder.expr(e);
  Diag& diag = binder.diags.error("DJ2030", *outsider.found, outsider.what);
  diag.notes.push_back("it is made of global variables, numbers, strings and operators");
  diag.help = outsider.declaration + "other tests stand in the body: if (!(condition)) next";
  return poison(e.span);
}

}  // namespace dj
