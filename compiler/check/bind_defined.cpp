// Binds @defined and @choose_defined: an expression is defined where all target expressions in it
// are. Which those are resolve finds out, for each place.
#include <algorithm>

#include "compiler/check/bind.h"
#include "compiler/walk_ast.h"

namespace dj {

ExprPtr Binder::defined(const ast::At& a, Span span) {
  ExprPtr all = a.args.size() == 1 ? all_defined(*a.args[0], span) : nullptr;
  if (all) return all;
  diags_.error("DJ2009", span, "`@defined` takes an expression with a target variable").help =
      "write @defined($name)";
  return poison(span);
}

// @choose_defined(a, b): a where it exists, else b.
ExprPtr Binder::choose_defined(const ast::At& a, Span span) {
  ExprPtr condition = a.args.size() == 2 ? all_defined(*a.args[0], span) : nullptr;
  if (!condition) {
    diags_.error("DJ2009", span, "`@choose_defined` takes a target variable and another value")
        .help = "write @choose_defined($name, $other)";
    return poison(span);
  }
  const auto* known = std::get_if<IntLit>(&condition->node);
  if (known != nullptr && known->value == 0) return expr(*a.args[1]);  // it is nowhere
  ExprPtr chosen = expr(*a.args[0]);
  ExprPtr otherwise = expr(*a.args[1]);
  return make(Ternary{std::move(condition), std::move(chosen), std::move(otherwise)}, span);
}

ExprPtr Binder::all_defined(const ast::Expr& e, Span span) {
  auto joined = [&](ast::BinOp op, ExprPtr left, ExprPtr right) {
    return make(Binary{op, std::move(left), std::move(right)}, span, Type::Int);
  };
  const auto* at = std::get_if<ast::At>(&e.node);
  if (at != nullptr && at->op == "choose_defined" && at->args.size() == 2) {
    ExprPtr first = all_defined(*at->args[0], span), second = all_defined(*at->args[1], span);
    if (!first || !second) return make(IntLit{1}, span, Type::Int);
    return joined(ast::BinOp::LogOr, std::move(first), std::move(second));
  }
  const auto* call = std::get_if<ast::Call>(&e.node);
  if (call != nullptr && !notes_.functions.contains(call->name) && is_register_name(call->name))
    return register_defined(*call, e.span, span);
  ExprPtr all;
  if (std::optional<TargetView> found = view(e)) all = is_defined(*found, e.span, span);
  auto add = [&](const ast::Expr& child) {
    ExprPtr more = all_defined(child, span);
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
  const bool returns = source_ != nullptr &&
                       std::any_of(source_->points.begin(), source_->points.end(), is_return_point);
  if (entry && !returns) return make(IntLit{0}, span, Type::Int);
  if (entry && !all) return make(IntLit{1}, span, Type::Int);  // made of built-ins alone
  return all;
}

ExprPtr Binder::is_defined(const TargetView& wanted, Span wanted_span, Span span) {
  if (source_ != nullptr && is_host(*source_) && !is_placeless(wanted))
    return make(IntLit{0}, span, Type::Int);
  defined_.insert(wanted.name);
  std::optional<TargetId> id = intern_target(wanted, wanted_span, nullptr);
  return id ? make(Defined{*id}, span, Type::Int) : poison(span);
}

// register("rax"), uint_arg(1): some places have them.
ExprPtr Binder::register_defined(const ast::Call& c, Span call_span, Span span) {
  if (source_ != nullptr && is_host(*source_)) return make(IntLit{0}, span, Type::Int);
  if (probe_ == nullptr) return make(IntLit{1}, span, Type::Int);  // each caller passes it
  defined_.insert(c.name);
  ExprPtr read = register_call(c, call_span);
  const auto* target = std::get_if<TargetRef>(&read->node);
  return target != nullptr ? make(Defined{target->target}, span, Type::Int) : std::move(read);
}

}  // namespace dj
