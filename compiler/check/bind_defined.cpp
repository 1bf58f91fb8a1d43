// SPDX-License-Identifier: Apache-2.0
// Binds @defined and @choose_defined: an expression is defined where all target expressions in it
// are. Which those are resolve finds out, for each place.
#include <algorithm>

#include "compiler/check/forms.h"
#include "compiler/check/uses.h"
#include "compiler/stages/walk_ast.h"

namespace dj {
namespace {

ExprPtr all_defined(Binder& binder, const ast::Expr& e, Span span);

ExprPtr is_defined(Binder& binder, const TargetView& wanted, Span wanted_span, Span span) {
  if (binder.source != nullptr && is_host(*binder.source) && !is_placeless(wanted))
    return make(IntLit{0}, span, Type::Int);
  binder.defined.insert(wanted.name);
  std::optional<TargetId> id = intern_target(binder, wanted, wanted_span, nullptr);
  return id ? make(Defined{*id}, span, Type::Int) : poison(span);
}

// register("rax"), uint_arg(1): some places have them.
ExprPtr register_defined(Binder& binder, const ast::Call& c, Span call_span, Span span) {
  if (binder.source != nullptr && is_host(*binder.source)) return make(IntLit{0}, span, Type::Int);
  if (binder.probe == nullptr) return make(IntLit{1}, span, Type::Int);  // each caller passes it
  binder.defined.insert(c.name);
  ExprPtr read = bind_register(binder, c, call_span);
  const auto* target = std::get_if<TargetRef>(&read->node);
  return target != nullptr ? make(Defined{target->target}, span, Type::Int) : std::move(read);
}

ExprPtr all_defined(Binder& binder, const ast::Expr& e, Span span) {
  auto joined = [&](ast::BinOp op, ExprPtr left, ExprPtr right) {
    return make(Binary{op, std::move(left), std::move(right)}, span, Type::Int);
  };
  const auto* at = std::get_if<ast::At>(&e.node);
  if (at != nullptr && at->op == "choose_defined" && at->args.size() == 2) {
    ExprPtr first = all_defined(binder, *at->args[0], span),
            second = all_defined(binder, *at->args[1], span);
    if (!first || !second) return make(IntLit{1}, span, Type::Int);
    return joined(ast::BinOp::LogOr, std::move(first), std::move(second));
  }
  const auto* call = std::get_if<ast::Call>(&e.node);
  if (call != nullptr && !binder.notes.functions.contains(call->name) &&
      is_register_name(call->name))
    return register_defined(binder, *call, e.span, span);
  ExprPtr all;
  if (std::optional<TargetView> found = binder.view(e))
    all = is_defined(binder, *found, e.span, span);
  auto add = [&](const ast::Expr& child) {
    ExprPtr more = all_defined(binder, child, span);
    if (!more) return;
    const auto* known = all ? std::get_if<IntLit>(&all->node) : nullptr;
    if (known != nullptr && known->value == 0) return;  // decides alone
    all = all && known == nullptr ? joined(ast::BinOp::LogAnd, std::move(all), std::move(more))
                                  : std::move(more);
  };
  const auto* member = std::get_if<ast::Member>(&e.node);
  if (member != nullptr && all) {  // of @cast or @var, which are no more than the front of the view
    ast::for_each_child(*member->base, add);
    ast::give(member->path, add);
  } else {
    ast::for_each_child(e, add);
  }
  const bool entry = at != nullptr && at->op == "entry";
  const bool returns =
      binder.source != nullptr &&
      std::any_of(binder.source->points.begin(), binder.source->points.end(), is_return_point);
  if (entry && !returns) return make(IntLit{0}, span, Type::Int);
  if (entry && !all) return make(IntLit{1}, span, Type::Int);  // made of built-ins alone
  return all;
}

}  // namespace

ExprPtr bind_defined(Binder& binder, const ast::At& a, Span span) {
  ExprPtr all = a.args.size() == 1 ? all_defined(binder, *a.args[0], span) : nullptr;
  if (all) return all;
  binder.diags.error("DJ2009", span, "`@defined` takes an expression with a target variable").help =
      "write @defined($name)";
  return poison(span);
}

// @choose_defined(a, b): a where it exists, else b.
ExprPtr bind_choose_defined(Binder& binder, const ast::At& a, Span span) {
  ExprPtr condition = a.args.size() == 2 ? all_defined(binder, *a.args[0], span) : nullptr;
  if (!condition) {
    binder.diags
        .error("DJ2009", span, "`@choose_defined` takes a target variable and another value")
        .help = "write @choose_defined($name, $other)";
    return poison(span);
  }
  const auto* known = std::get_if<IntLit>(&condition->node);
  if (known != nullptr && known->value == 0) return binder.expr(*a.args[1]);  // it is nowhere
  ExprPtr chosen = binder.expr(*a.args[0]);
  ExprPtr otherwise = binder.expr(*a.args[1]);
  return make(Ternary{std::move(condition), std::move(chosen), std::move(otherwise)}, span);
}

}  // namespace dj
