// SPDX-License-Identifier: Apache-2.0
// Refuses, at the exact place, members and elements of what has none.
#include "compiler/check/unbuilt.h"

#include <fmt/format.h>

#include "compiler/check/stat_ops.h"
#include "compiler/check/target_view.h"
#include "compiler/stages/walk_ast.h"

namespace dj {
namespace {

struct Finder {
  Diags& diags;
  const PointerTypes& pointers;

  void operator()(const ast::Expr& expr) {
    if (const auto* member = std::get_if<ast::Member>(&expr.node);
        member != nullptr && !target_view(expr) && !pointer_view(expr, pointers)) {
      const auto* at = std::get_if<ast::At>(&member->base->node);
      bool element = !member->path.empty() && member->path[0].kind == ast::Access::Element;
      if (at != nullptr && is_histogram(at->op) && element) return;
      Diag& diag = diags.error(
          "DJ2009", expr.span,
          at == nullptr
              ? "only target variables, @cast(...) and @var(...) have members and elements"
              : "@" + at->op + "(...) has no members and elements");
      const auto* name = std::get_if<ast::Name>(&member->base->node);
      if (name != nullptr) {
        diag.help = fmt::format(
            "target variables are written with a dollar: ${0}->...; a pointer whose type no "
            "assignment in this body tells: @cast({0}, \"struct type\")->...",
            name->name);
      } else if (at == nullptr) {
        diag.help = "of a pointer: @cast(pointer, \"struct type\")->...";
      }
    }
    ast::for_each_child(expr, *this);
  }

  void operator()(const ast::Stmt& stmt) { ast::for_each_child(stmt, *this); }
};

}  // namespace

void refuse_unbuilt(const ast::Script& script, Diags& diags) {
  const ScriptNames names(script);
  auto look = [&](const ast::Stmt& body) {
    const PointerTypes pointers(body, names);
    Finder find{diags, pointers};
    find(body);
  };
  for (const ast::FunctionDecl& function : script.functions) look(*function.body);
  for (const ast::Probe& probe : script.probes) look(*probe.body);
}

}  // namespace dj
