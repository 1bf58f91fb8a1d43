// SPDX-License-Identifier: Apache-2.0
// One walk over the statement's expressions. What a function of the script keeps is not looked at.
#include "compiler/lower/text_use.h"

#include "compiler/stages/walk.h"
#include "stdlib/builtins.h"

namespace dj::ir {
namespace {

template <typename Node>
const Node* node_of(const Expr& expr) {
  return std::get_if<Node>(&expr.node);
}

// Those of a variable, and literals, are there already.
bool makes_text(const Expr& expr) {
  return expr.type == Type::Str && !node_of<StrLit>(expr) && !node_of<LocalRef>(expr) &&
         !node_of<GlobalRef>(expr) && !node_of<ElementRef>(expr);
}

bool keeps_text(const Expr& expr) {
  if (const auto* assign = node_of<Assign>(expr))
    return expr.type == Type::Str && node_of<LocalRef>(*assign->place) != nullptr;
  if (const auto* call = node_of<CallBuiltin>(expr))
    return (builtins()[call->builtin].flags & kKeepsText) != 0;
  return node_of<Match>(expr) || node_of<CallFunction>(expr) || node_of<Inlined>(expr);
}

struct TextUse {
  bool made = false, kept = false;
  void operator()(const Expr& expr) {
    made = made || makes_text(expr);
    kept = kept || keeps_text(expr);
    for_each_child(expr, *this);
  }
  void operator()(const Stmt&) { kept = true; }  // of an inlined function
};

}  // namespace

bool ends_its_texts(const Stmt& stmt) {
  if (!std::holds_alternative<ExprStmt>(stmt.node) && !std::holds_alternative<StatAdd>(stmt.node))
    return false;
  TextUse use;
  for_each_child(stmt, use);
  return use.made && !use.kept;
}

}  // namespace dj::ir
