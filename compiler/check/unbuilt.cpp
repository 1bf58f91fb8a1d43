// Refuses, by name and at the exact place, the forms that are parsed and printed but not built yet.
#include "compiler/check/unbuilt.h"

#include "compiler/check/bind.h"
#include "compiler/walk_ast.h"

namespace dj {
namespace {

struct Finder {
  Diags& diags;

  Diag& refuse(Span span, const std::string& what) {
    return diags.error("DJ2009", span, what + " not built yet");
  }

  void operator()(const ast::Expr& expr) {
    if (const auto* member = std::get_if<ast::Member>(&expr.node);
        member != nullptr && !target_view(expr)) {
      const auto* at = std::get_if<ast::At>(&member->base->node);
      bool element = !member->path.empty() && member->path[0].kind == ast::Access::Element;
      if (at != nullptr && at->op.starts_with("hist_") && element) return;
      Diag& diag = refuse(expr.span, at == nullptr ? "members of a computed value are"
                                                   : "taking one part of @" + at->op + "(...) is");
      if (const auto* name = std::get_if<ast::Name>(&member->base->node)) {
        diag.help = "target variables are written with a dollar: $" + name->name + "->...";
      }
    }
    ast::for_each_child(expr, *this);
  }

  void operator()(const ast::Stmt& stmt) { ast::for_each_child(stmt, *this); }
};

}  // namespace

void refuse_unbuilt(const ast::Script& script, Diags& diags) {
  Finder find{diags};
  for (const ast::FunctionDecl& function : script.functions) {
    find(*function.body);
  }
  for (const ast::Probe& probe : script.probes) {
    find(*probe.body);
  }
}

}  // namespace dj
