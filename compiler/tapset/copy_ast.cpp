// SPDX-License-Identifier: Apache-2.0
// Copies node by node; plain nodes copy themselves.
#include "compiler/tapset/copy_ast.h"

namespace dj::ast {

namespace {

ExprPtr of(const ExprPtr& expr) { return expr ? copy(*expr) : nullptr; }
StmtPtr of(const StmtPtr& stmt) { return stmt ? copy(*stmt) : nullptr; }

std::vector<ExprPtr> of(const std::vector<ExprPtr>& list) {
  std::vector<ExprPtr> made;
  for (const ExprPtr& each : list) made.push_back(of(each));
  return made;
}

std::vector<Access> of(const std::vector<Access>& path) {
  std::vector<Access> made;
  for (const Access& a : path) made.push_back({a.kind, a.field, of(a.index), a.span});
  return made;
}

struct Copier {
  template <typename Node>
  Node operator()(const Node& n) const {
    return n;
  }
  Index operator()(const Index& n) const { return {n.name, n.name_span, of(n.keys)}; }
  Call operator()(const Call& n) const { return {n.name, n.name_span, of(n.args)}; }
  Target operator()(const Target& n) const { return {n.name, n.address_of, of(n.path), n.pretty}; }
  Member operator()(const Member& n) const {
    return {of(n.base), n.address_of, of(n.path), n.pretty};
  }
  At operator()(const At& n) const { return {n.op, n.op_span, of(n.args)}; }
  Unary operator()(const Unary& n) const { return {n.op, of(n.operand)}; }
  Binary operator()(const Binary& n) const { return {n.op, n.op_span, of(n.left), of(n.right)}; }
  Ternary operator()(const Ternary& n) const {
    return {of(n.condition), of(n.then), of(n.otherwise)};
  }
  Assign operator()(const Assign& n) const {
    return {n.op, n.stat_add, n.op_span, of(n.left), of(n.right)};
  }
  Crement operator()(const Crement& n) const { return {n.prefix, n.delta, of(n.operand)}; }
  In operator()(const In& n) const { return {of(n.keys), n.array, n.array_span, of(n.histogram)}; }
  Match operator()(const Match& n) const {
    return {n.negated, of(n.text), n.pattern, n.pattern_span};
  }

  Block operator()(const Block& n) const {
    Block made;
    for (const StmtPtr& each : n.body) made.body.push_back(of(each));
    return made;
  }
  ExprStmt operator()(const ExprStmt& n) const { return {of(n.expr)}; }
  If operator()(const If& n) const { return {of(n.condition), of(n.then), of(n.otherwise)}; }
  While operator()(const While& n) const { return {of(n.condition), of(n.body)}; }
  For operator()(const For& n) const {
    return {of(n.init), of(n.condition), of(n.step), of(n.body)};
  }
  Foreach operator()(const Foreach& n) const {
    Foreach made;
    made.value = n.value;
    made.keys = n.keys;
    made.array = n.array;
    made.array_span = n.array_span;
    made.histogram = of(n.histogram);
    made.slice = of(n.slice);
    made.array_op = n.array_op;
    made.array_op_span = n.array_op_span;
    made.array_sort = n.array_sort;
    made.limit = of(n.limit);
    made.body = of(n.body);
    return made;
  }
  Return operator()(const Return& n) const { return {of(n.value)}; }
  Delete operator()(const Delete& n) const { return {of(n.what)}; }
  Try operator()(const Try& n) const { return {of(n.body), n.error, n.error_span, of(n.handler)}; }
};

}  // namespace

ExprPtr copy(const Expr& expr) {
  auto made = std::make_unique<Expr>();
  made->span = expr.span;
  std::visit([&](const auto& node) { made->node = Copier()(node); }, expr.node);
  return made;
}

StmtPtr copy(const Stmt& stmt) {
  auto made = std::make_unique<Stmt>();
  made->span = stmt.span;
  std::visit([&](const auto& node) { made->node = Copier()(node); }, stmt.node);
  return made;
}

}  // namespace dj::ast
