// SPDX-License-Identifier: Apache-2.0
// for_each_child: calls a function object with every direct child (Expr or Stmt) of a node of the
// Program, in order of evaluation.
#pragma once
#include <type_traits>
#include <variant>

#include "compiler/stages/program.h"

namespace dj {

template <typename F>
void visit_children(const ExprPtr& child, F& f) {
  if (child) f(*child);
}
template <typename F>
void visit_children(const StmtPtr& child, F& f) {
  if (child) f(*child);
}
template <typename Pointer, typename F>
void visit_children(const std::vector<Pointer>& children, F& f) {
  for (const Pointer& child : children) visit_children(child, f);
}

template <typename F>
void for_each_child(const Expr& expr, F& f) {
  std::visit(
      [&f](const auto& n) {
        using Node = std::decay_t<decltype(n)>;
        if constexpr (std::is_same_v<Node, ElementRef> || std::is_same_v<Node, InArray>) {
          visit_children(n.keys, f);
        } else if constexpr (std::is_same_v<Node, Unary> || std::is_same_v<Node, ToDouble>) {
          visit_children(n.operand, f);
        } else if constexpr (std::is_same_v<Node, Binary>) {
          visit_children(n.left, f);
          visit_children(n.right, f);
        } else if constexpr (std::is_same_v<Node, Ternary>) {
          visit_children(n.condition, f);
          visit_children(n.then, f);
          visit_children(n.otherwise, f);
        } else if constexpr (std::is_same_v<Node, Assign>) {
          visit_children(n.place, f);
          visit_children(n.value, f);
        } else if constexpr (std::is_same_v<Node, Crement> || std::is_same_v<Node, StatRead> ||
                             std::is_same_v<Node, PrintHist> || std::is_same_v<Node, Take>) {
          visit_children(n.place, f);
        } else if constexpr (std::is_same_v<Node, Match>) {
          visit_children(n.text, f);
        } else if constexpr (std::is_same_v<Node, HistBucket>) {
          visit_children(n.place, f);
          visit_children(n.index, f);
        } else if constexpr (std::is_same_v<Node, CallFunction> ||
                             std::is_same_v<Node, CallBuiltin> || std::is_same_v<Node, TargetRef> ||
                             std::is_same_v<Node, Print>) {
          visit_children(n.args, f);
        } else if constexpr (std::is_same_v<Node, Inlined>) {
          visit_children(n.body, f);
        } else {
          static_assert(std::is_same_v<Node, IntLit> || std::is_same_v<Node, StrLit> ||
                        std::is_same_v<Node, LocalRef> || std::is_same_v<Node, GlobalRef> ||
                        std::is_same_v<Node, Defined> || std::is_same_v<Node, Caught> ||
                        std::is_same_v<Node, DoubleLit>);
        }
      },
      expr.node);
}

template <typename F>
void for_each_child(const Stmt& stmt, F& f) {
  std::visit(
      [&f](const auto& n) {
        using Node = std::decay_t<decltype(n)>;
        if constexpr (std::is_same_v<Node, Block> || std::is_same_v<Node, Snapshot>) {
          visit_children(n.body, f);
        } else if constexpr (std::is_same_v<Node, ExprStmt>) {
          visit_children(n.expr, f);
        } else if constexpr (std::is_same_v<Node, StatAdd>) {
          visit_children(n.place, f);
          visit_children(n.value, f);
        } else if constexpr (std::is_same_v<Node, If>) {
          visit_children(n.condition, f);
          visit_children(n.then, f);
          visit_children(n.otherwise, f);
        } else if constexpr (std::is_same_v<Node, Loop>) {
          visit_children(n.condition, f);
          visit_children(n.step, f);
          visit_children(n.body, f);
        } else if constexpr (std::is_same_v<Node, Foreach>) {
          visit_children(n.slice, f);
          visit_children(n.limit, f);
          visit_children(n.body, f);
        } else if constexpr (std::is_same_v<Node, Return>) {
          visit_children(n.value, f);
        } else if constexpr (std::is_same_v<Node, DeleteElement>) {
          visit_children(n.element, f);
        } else if constexpr (std::is_same_v<Node, Try>) {
          visit_children(n.body, f);
          visit_children(n.handler, f);
        } else {
          static_assert(std::is_same_v<Node, Break> || std::is_same_v<Node, Continue> ||
                        std::is_same_v<Node, Next> || std::is_same_v<Node, DeleteGlobal>);
        }
      },
      stmt.node);
}

}  // namespace dj
