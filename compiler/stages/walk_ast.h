// SPDX-License-Identifier: Apache-2.0
// for_each_child: calls a function object with every direct child (Expr or Stmt, never null) of a
// node of the Script, in the order in which they are written.
#pragma once
#include <type_traits>
#include <variant>

#include "compiler/stages/ast.h"

namespace dj::ast {

template <typename Child, typename F>
void give(const std::unique_ptr<Child>& child, F& f) {
  if (child) f(*child);
}
template <typename F>
void give(const std::vector<ExprPtr>& children, F& f) {
  for (const ExprPtr& child : children) give(child, f);
}
template <typename F>
void give(const std::vector<Access>& path, F& f) {
  for (const Access& access : path) give(access.index, f);
}

template <typename F>
void for_each_child(const Expr& expr, F& f) {
  std::visit(
      [&f](const auto& n) {
        using Node = std::decay_t<decltype(n)>;
        if constexpr (std::is_same_v<Node, Index>) {
          give(n.keys, f);
        } else if constexpr (std::is_same_v<Node, Call> || std::is_same_v<Node, At>) {
          give(n.args, f);
        } else if constexpr (std::is_same_v<Node, Target>) {
          give(n.path, f);
        } else if constexpr (std::is_same_v<Node, Member>) {
          give(n.base, f);
          give(n.path, f);
        } else if constexpr (std::is_same_v<Node, Unary> || std::is_same_v<Node, Crement>) {
          give(n.operand, f);
        } else if constexpr (std::is_same_v<Node, Binary> || std::is_same_v<Node, Assign>) {
          give(n.left, f);
          give(n.right, f);
        } else if constexpr (std::is_same_v<Node, Ternary>) {
          give(n.condition, f);
          give(n.then, f);
          give(n.otherwise, f);
        } else if constexpr (std::is_same_v<Node, In>) {
          give(n.keys, f);
          give(n.histogram, f);
        } else if constexpr (std::is_same_v<Node, Match>) {
          give(n.text, f);
        } else {
          static_assert(std::is_same_v<Node, Number> || std::is_same_v<Node, Fraction> || std::is_same_v<Node, String> ||
                        std::is_same_v<Node, Name>);
        }
      },
      expr.node);
}

template <typename F>
void for_each_child(const Stmt& stmt, F& f) {
  std::visit(
      [&f](const auto& n) {
        using Node = std::decay_t<decltype(n)>;
        if constexpr (std::is_same_v<Node, Block>) {
          for (const StmtPtr& each : n.body) give(each, f);
        } else if constexpr (std::is_same_v<Node, ExprStmt>) {
          give(n.expr, f);
        } else if constexpr (std::is_same_v<Node, If>) {
          give(n.condition, f);
          give(n.then, f);
          give(n.otherwise, f);
        } else if constexpr (std::is_same_v<Node, While>) {
          give(n.condition, f);
          give(n.body, f);
        } else if constexpr (std::is_same_v<Node, For>) {
          give(n.init, f);
          give(n.condition, f);
          give(n.step, f);
          give(n.body, f);
        } else if constexpr (std::is_same_v<Node, Foreach>) {
          give(n.histogram, f);
          give(n.slice, f);
          give(n.limit, f);
          give(n.body, f);
        } else if constexpr (std::is_same_v<Node, Return>) {
          give(n.value, f);
        } else if constexpr (std::is_same_v<Node, Delete>) {
          give(n.what, f);
        } else if constexpr (std::is_same_v<Node, Try>) {
          give(n.body, f);
          give(n.handler, f);
        } else {
          static_assert(std::is_same_v<Node, Break> || std::is_same_v<Node, Continue> ||
                        std::is_same_v<Node, Next> || std::is_same_v<Node, Empty>);
        }
      },
      stmt.node);
}

}  // namespace dj::ast
