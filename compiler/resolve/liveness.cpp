// SPDX-License-Identifier: Apache-2.0
// One walk over a probe's body that follows only the branches that can run.
#include "compiler/resolve/liveness.h"

#include <optional>
#include <utility>

#include "stdlib/builtins.h"

namespace dj {

namespace {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

class Walker {
 public:
  Walker(const Program& program, const std::vector<bool>& defined)
      : program_(program), defined_(defined), visited_(program.functions.size()) {}

  std::vector<bool> live;
  uint32_t flags = 0;        // of the built-ins
  bool calls_alone = false;  // live: the targets of the functions that are called, instead

  void walk(const StmtPtr& stmt) {
    if (!stmt) {
      return;
    }
    std::visit(Overloaded{
                   [&](const Block& s) {
                     for (const StmtPtr& inner : s.body) walk(inner);
                   },
                   [&](const ExprStmt& s) { walk(s.expr); },
                   [&](const StatAdd& s) {
                     walk(s.place);
                     walk(s.value);
                   },
                   [&](const If& s) {
                     const std::optional<bool> known = constant(s.condition);
                     if (!known) {
                       walk(s.condition);
                     }
                     if (known.value_or(true)) walk(s.then);
                     if (!known.value_or(false)) walk(s.otherwise);
                   },
                   [&](const Loop& s) {
                     if (s.condition && constant(s.condition) == false) {
                       return;
                     }
                     walk(s.condition);
                     walk(s.step);
                     walk(s.body);
                   },
                   [&](const Foreach& s) {
                     walk(s.slice);
                     walk(s.limit);
                     walk(s.body);
                   },
                   [&](const Return& s) { walk(s.value); },
                   [&](const DeleteElement& s) { walk(s.element); },
                   [&](const Snapshot& s) { walk(s.body); },
                   [&](const Try& s) {
                     walk(s.body);
                     walk(s.handler);
                   },
                   [](const auto&) {},  // Break, Continue, Next, DeleteGlobal hold no expressions
               },
               stmt->node);
  }

 private:
  void walk(const std::vector<ExprPtr>& exprs) {
    for (const ExprPtr& e : exprs) {
      walk(e);
    }
  }

  void walk(const ExprPtr& expr) {
    if (!expr) {
      return;
    }
    std::visit(Overloaded{
                   [&](const ElementRef& e) { walk(e.keys); },
                   [&](const Unary& e) { walk(e.operand); },
                   [&](const ToDouble& e) { walk(e.operand); },
                   [&](const Binary& e) { binary(e); },
                   [&](const Ternary& e) {
                     const std::optional<bool> known = constant(e.condition);
                     if (!known) {
                       walk(e.condition);
                     }
                     if (known.value_or(true)) walk(e.then);
                     if (!known.value_or(false)) walk(e.otherwise);
                   },
                   [&](const Assign& e) {
                     walk(e.place);
                     walk(e.value);
                   },
                   [&](const Crement& e) { walk(e.place); },
                   [&](const CallFunction& e) {
                     walk(e.args);
                     call(e.function);
                   },
                   [&](const Inlined& e) { walk(e.body); },
                   [&](const CallBuiltin& e) {
                     walk(e.args);
                     flags |= builtins()[e.builtin].flags;
                   },
                   [&](const InArray& e) { walk(e.keys); },
                   [&](const StatRead& e) { walk(e.place); },
                   [&](const TargetRef& e) {
                     walk(e.args);
                     mark(e.target);
                   },
                   [&](const Print& e) { walk(e.args); },
                   [&](const PrintHist& e) { walk(e.place); },
                   [&](const Match& e) { walk(e.text); },
                   [&](const Take& e) { walk(e.place); },
                   [&](const HistBucket& e) {
                     walk(e.place);
                     walk(e.index);
                   },
                   [](const auto&) {},  // literals, names and @defined read no target
               },
               expr->node);
  }

  // The right side of && and || runs only when the left one does not decide.
  void binary(const Binary& e) {
    const bool logical = e.op == ast::BinOp::LogAnd || e.op == ast::BinOp::LogOr;
    const std::optional<bool> left = logical ? constant(e.left) : std::nullopt;
    walk(e.left);
    if (!left || *left == (e.op == ast::BinOp::LogAnd)) {
      walk(e.right);
    }
  }

  void call(FunctionId id) {
    if (!visited_[id]) {
      visited_[id] = true;
      const bool before = std::exchange(ours_, false);  // its targets are not the probe's
      walk(program_.functions[id].body);
      ours_ = before;
    }
  }

  void mark(TargetId target) {
    if (ours_ == calls_alone) {
      return;
    }
    if (target >= live.size()) {
      live.resize(target + 1);
    }
    live[target] = true;
  }

  // The truth of an expression made of @defined, !, &&, || and numbers.
  std::optional<bool> constant(const ExprPtr& expr) const {
    if (const auto* d = std::get_if<Defined>(&expr->node)) {
      if (!ours_) {
        return std::nullopt;
      }
      return d->target < defined_.size() && defined_[d->target];
    }
    if (const auto* n = std::get_if<IntLit>(&expr->node)) {
      return n->value != 0;
    }
    if (const auto* u = std::get_if<Unary>(&expr->node); u && u->op == ast::UnOp::Not) {
      const std::optional<bool> inner = constant(u->operand);
      return inner ? std::optional(!*inner) : std::nullopt;
    }
    const auto* b = std::get_if<Binary>(&expr->node);
    if (!b || (b->op != ast::BinOp::LogAnd && b->op != ast::BinOp::LogOr)) {
      return std::nullopt;
    }
    const bool deciding = b->op == ast::BinOp::LogOr;  // the value that decides alone
    const std::optional<bool> left = constant(b->left);
    if (left == deciding) {
      return deciding;
    }
    const std::optional<bool> right = constant(b->right);
    // A right side that decides does so only after the left one has run, which may have effects.
    return left && right ? right : std::nullopt;
  }

  const Program& program_;
  const std::vector<bool>& defined_;
  std::vector<bool> visited_;
  bool ours_ = true;  // what is walked has the targets that `defined_` tells of: it was not called
};

}  // namespace

std::vector<bool> live_targets(const Program& program, const Probe& probe,
                               const std::vector<bool>& defined) {
  Walker walker(program, defined);
  walker.walk(probe.body);
  walker.live.resize(probe.targets.size());
  return walker.live;
}

std::vector<bool> live_function_targets(const Program& program, const std::vector<bool>& defined) {
  Walker walker(program, defined);
  for (const Function& function : program.functions) {
    walker.walk(function.body);
  }
  walker.live.resize(program.function_targets.size());
  return walker.live;
}

std::vector<bool> called_function_targets(const Program& program, const Probe& probe) {
  const std::vector<bool> defined(probe.targets.size(), true);
  Walker walker(program, defined);
  walker.calls_alone = true;
  walker.walk(probe.body);
  walker.live.resize(program.function_targets.size());
  return walker.live;
}

uint32_t builtin_flags(const Program& program, const Probe& probe) {
  // Nothing is known to be undefined here: every branch counts.
  const std::vector<bool> defined(probe.targets.size(), true);
  Walker walker(program, defined);
  walker.walk(probe.body);
  const std::vector<bool> undefined(probe.targets.size(), false);
  Walker other(program, undefined);
  other.walk(probe.body);
  return walker.flags | other.flags;
}

}  // namespace dj
