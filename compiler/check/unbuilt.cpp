// Refuses, by name and at the exact place, the forms that are parsed and printed but not built yet.
#include "compiler/check/unbuilt.h"

#include <algorithm>

#include "compiler/check/bind.h"
#include "compiler/walk_ast.h"

namespace dj {
namespace {

struct Finder {
  Diags& diags;

  Diag& refuse(Span span, const std::string& what) {
    return diags.error("DJ2009", span, what + " not built yet");
  }

  bool has_star(const std::vector<ast::ExprPtr>& keys) {
    return std::any_of(keys.begin(), keys.end(), [](const auto& key) { return key == nullptr; });
  }

  void operator()(const ast::Expr& expr) {
    if (const auto* index = std::get_if<ast::Index>(&expr.node)) {
      if (has_star(index->keys)) refuse(expr.span, "slices of an array ([*, k]) are");
    } else if (const auto* in = std::get_if<ast::In>(&expr.node)) {
      if (in->histogram) refuse(in->array_span, "using the buckets of a histogram as an array is");
      if (has_star(in->keys)) refuse(expr.span, "slices of an array ([*, k]) are");
    } else if (const auto* member = std::get_if<ast::Member>(&expr.node);
               member != nullptr && !target_view(expr)) {
      const auto* at = std::get_if<ast::At>(&member->base->node);
      Diag& diag = refuse(expr.span, at == nullptr ? "members of a computed value are"
                                                   : "taking one part of @" + at->op + "(...) is");
      if (const auto* name = std::get_if<ast::Name>(&member->base->node)) {
        diag.help = "target variables are written with a dollar: $" + name->name + "->...";
      }
    } else if (const auto* match = std::get_if<ast::Match>(&expr.node)) {
      refuse(match->pattern_span, "regular expressions (=~ and !~) are").help =
          "isinstr(text, part) tells whether a string contains another";
    }
    ast::for_each_child(expr, *this);
  }

  void operator()(const ast::Stmt& stmt) {
    if (std::holds_alternative<ast::Try>(stmt.node)) refuse(stmt.span, "try/catch is");
    if (const auto* loop = std::get_if<ast::Foreach>(&stmt.node)) {
      if (loop->histogram) {
        refuse(loop->array_span, "using the buckets of a histogram as an array is");
      }
      if (!loop->slice.empty()) {
        refuse(loop->array_span, "loops over a slice of an array are").help =
            "loop over the whole array and test the keys: if (k != wanted) continue";
      }
    }
    ast::for_each_child(stmt, *this);
  }
};

}  // namespace

void refuse_unbuilt(const ast::Script& script, Diags& diags) {
  Finder find{diags};
  for (const ast::FunctionDecl& function : script.functions) {
    if (function.priority) {
      find.refuse(function.name_span, "overloaded functions with priorities are").help =
          "give the functions different names";
    }
    find(*function.body);
  }
  for (const ast::Probe& probe : script.probes) {
    for (const ast::ProbePoint& point : probe.points) {
      if (point.condition) {
        find.refuse(point.condition->span, "conditions on probe points are").help =
            "test inside the body: if (!(condition)) next";
      }
    }
    find(*probe.body);
  }
}

}  // namespace dj
