// SPDX-License-Identifier: Apache-2.0
// Needs: one walk over a probe's body that collects what its handler must be given.
#include "compiler/lower/needs.h"

#include "compiler/stages/stack_info.h"
#include "compiler/stages/walk.h"
#include "stdlib/builtins.h"

namespace dj::ir {
namespace {

void add_location(const LocExpr& location, Needs& needs) {
  for (const LocStep& step : location.steps) {
    switch (step.op) {
      case LocStep::Deref:
      case LocStep::Div:
      case LocStep::Mod:
      case LocStep::WideCompute:
      case LocStep::PushBias:
      case LocStep::Label:
        needs.site = true;
        break;
      default:
        break;
    }
  }
}

void add_target(const TargetPlan& target, Needs& needs) {
  if (const auto* location = std::get_if<LocExpr>(&target)) add_location(*location, needs);
  if (const auto* text = std::get_if<TargetText>(&target)) {
    needs.context = true;
    for (const TargetText::Item& item : text->items) {
      add_location(item.value, needs);
      add_location(item.length, needs);
    }
  }
}

struct Collector {
  const Program& program;
  const Handler& handler;
  Needs needs;

  void operator()(const Expr& expr) {
    std::visit([this](const auto& node) { add(node); }, expr.node);
    for_each_child(expr, *this);
  }
  void operator()(const Stmt& stmt) {
    if (std::holds_alternative<Loop>(stmt.node) || std::holds_alternative<Foreach>(stmt.node) ||
        std::holds_alternative<Try>(stmt.node)) {
      needs.context = true;
    }
    for_each_child(stmt, *this);
  }

  template <typename Node>
  void add(const Node&) {}
  void add(const Binary& node) {
    if (node.op == ast::BinOp::Div || node.op == ast::BinOp::Mod) needs.site = true;
    if (node.op == ast::BinOp::Concat) needs.context = true;
  }
  void add(const Assign& node) {
    if (!node.op) return;
    if (*node.op == ast::BinOp::Div || *node.op == ast::BinOp::Mod) needs.site = true;
    if (*node.op == ast::BinOp::Concat) needs.context = true;
  }
  void add(const CallFunction&) {
    needs.context = true;
    needs.stack = needs.stack || functions_walk_stack(program);
  }
  void add(const CallBuiltin& node) {
    uint32_t flags = builtins()[node.builtin].flags;
    if (flags & (kCtx | kRaises)) needs.context = true;
    if (flags & kSite) needs.site = true;
    if (flags & kStack) needs.stack = true;
  }
  void add(const StatRead& node) {
    if (node.op != StatOp::Count && node.op != StatOp::Sum) needs.site = true;
  }
  void add(const Print& node) { (node.printed ? needs.site : needs.context) = true; }
  void add(const PrintHist& node) { (node.printed ? needs.site : needs.context) = true; }
  void add(const Match&) { needs.context = true; }
  void add(const HistBucket&) { needs.site = true; }
  void add(const TargetRef& node) { add_target(handler.targets[node.target], needs); }
};

struct EndUse {
  bool found = false;

  void operator()(const Expr& expr) {
    const auto* call = std::get_if<CallBuiltin>(&expr.node);
    found = found || (call != nullptr && (builtins()[call->builtin].flags & kEnds) != 0);
    for_each_child(expr, *this);
  }
  void operator()(const Stmt& stmt) { for_each_child(stmt, *this); }
};

}  // namespace

bool target_ends_session(const Program& program, const Plan& plan) {
  EndUse use;
  for (const Function& function : program.functions) {
    if (function.body) use(*function.body);
  }
  for (const Handler& handler : plan.handlers) {
    if (handler.role != Handler::Role::Body) continue;
    if (const StmtPtr& body = program.probes[handler.probe].body) use(*body);
  }
  return use.found;
}

Needs needs_of(const Program& program, const Handler& handler) {
  Collector collector{program, handler, {}};
  if (handler.role == Handler::Role::Capture) {
    for (const LocExpr& value : handler.capture.values) add_location(value, collector.needs);
  } else {
    const Probe& probe = program.probes[handler.probe];
    if (probe.body) collector(*probe.body);
  }
  Needs needs = collector.needs;
  if (handler.wants_site || needs.context) needs.site = true;
  return needs;
}

}  // namespace dj::ir
