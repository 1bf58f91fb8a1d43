// SPDX-License-Identifier: Apache-2.0
// Binds @entry(e): what e was when the function of a .return probe was entered. Its variables and
// built-ins become targets that the entry stores; its operators are applied at the return.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/check/forms.h"
#include "compiler/check/overload.h"
#include "compiler/check/uses.h"
#include "stdlib/builtins.h"

namespace dj {
namespace {

ExprPtr at_entry(Binder& binder, const ast::Expr& e);

// False: reported.
bool only_at_return(Binder& binder, const std::string& op, Span span) {
  const ast::ProbePoint* other = nullptr;
  for (size_t i = 0; binder.source != nullptr && i < binder.source->points.size(); ++i) {
    if (!is_return_point(binder.source->points[i])) other = &binder.source->points[i];
  }
  if (binder.source != nullptr && other == nullptr) return true;
  Diag& diag = binder.diags.error("DJ2031", span,
                                  fmt::format("`@{}` exists only where a function returns", op));
  if (other != nullptr) {
    diag.labels.push_back({other->span, "this is not a return probe"});
    diag.help = "add .return to the probe point";
  }
  return false;
}

// What `function f() { return e }` returns; null: the call means another kind of function.
const ast::Expr* short_function(Binder& binder, const ast::Call& c) {
  const std::vector<FunctionId>& overloads = binder.notes.functions.at(c.name);
  const bool again = std::find(binder.entry_calls.begin(), binder.entry_calls.end(), c.name) !=
                     binder.entry_calls.end();
  if (!c.args.empty() || overloads.size() != 1 || again) return nullptr;
  const ast::Stmt* body = binder.notes.bodies[overloads.front()];
  if (binder.program.functions[overloads.front()].param_count != 0) return nullptr;
  const ast::Block* block = std::get_if<ast::Block>(&body->node);
  if (block != nullptr && block->body.size() == 1) body = block->body.front().get();
  const ast::Return* only = std::get_if<ast::Return>(&body->node);
  return only != nullptr && only->value ? only->value.get() : nullptr;
}

ExprPtr call_at_entry(Binder& binder, const ast::Call& c, Span span) {
  std::optional<BuiltinId> id = find_builtin(c.name);
  bool script = binder.notes.functions.contains(c.name);
  if (const ast::Expr* value = script ? short_function(binder, c) : nullptr) {
    binder.entry_calls.push_back(c.name);
    ExprPtr bound = at_entry(binder, *value);
    binder.entry_calls.pop_back();
    return bound;
  }
  bool argument = !script && is_register_name(c.name) && !c.name.ends_with("register");
  if (argument) return bind_register(binder, c, span);  // int_arg(n) means the entry in any case
  bool plain = id && !script && c.args.empty() && builtins()[*id].flags == 0 &&
               builtins()[*id].signature == "int()";
  if (!plain) {
    Diag& diag = binder.diags.error("DJ2031", span,
                                    fmt::format("`{}` cannot be called at the entry", c.name));
    diag.notes.push_back(
        "what can: built-ins without parameters that give a number, as tid(); functions without "
        "parameters that are one `return` of such");
    return poison(span);
  }
  TargetExpr wanted{.span = span, .name_span = c.name_span};
  wanted.base = TargetExpr::Call;
  wanted.name = c.name;
  wanted.index = *id;
  return make(TargetRef{intern(binder, std::move(wanted)), {}}, span, Type::Int);
}

ExprPtr at_entry(Binder& binder, const ast::Expr& e) {
  std::optional<TargetView> wanted = target_view(e);
  bool variable = wanted && wanted->base != TargetExpr::Cast && wanted->name != "return" &&
                  wanted->name != "$return";
  if (variable)
    return bind_target(binder, *wanted,
                       e.span);  // in a .return probe these are entry values anyway
  return std::visit(
      Overload{
          [&](const ast::Number& n) { return make(IntLit{n.value}, e.span, Type::Int); },
          [&](const ast::Fraction&) { return binder.expr(e); },
          [&](const ast::String& s) { return make(StrLit{until_nul(s.value)}, e.span, Type::Str); },
          [&](const ast::Call& c) { return call_at_entry(binder, c, e.span); },
          [&](const ast::Unary& u) {
            return make(Unary{u.op, at_entry(binder, *u.operand)}, e.span, Type::Int);
          },
          [&](const ast::Binary& b) {
            ExprPtr left = at_entry(binder, *b.left);
            return make(Binary{b.op, std::move(left), at_entry(binder, *b.right)}, e.span);
          },
          [&](const ast::Ternary& t) {
            ExprPtr test = at_entry(binder, *t.condition);
            ExprPtr then = at_entry(binder, *t.then);
            return make(Ternary{std::move(test), std::move(then), at_entry(binder, *t.otherwise)},
                        e.span);
          },
          [&](const auto&) {
            Diag& diag = binder.diags.error("DJ2031", e.span, "this cannot be kept from the entry");
            diag.notes.push_back(
                "`@entry` takes $variables, numbers, operators and built-ins without parameters");
            diag.help = "or keep it yourself: probe the entry, and store it in an array by tid()";
            return poison(e.span);
          },
      },
      e.node);
}

}  // namespace

ExprPtr bind_entry(Binder& binder, const ast::At& a, Span span) {
  if (a.args.size() != 1) {
    binder.diags.error("DJ2031", span, "`@entry` takes one expression").help =
        "write @entry(gettimeofday_us())";
    return poison(span);
  }
  return only_at_return(binder, a.op, span) ? at_entry(binder, *a.args[0]) : poison(span);
}

// @exit($p->f): what the pointer that $p was at the entry leads to now. A cast reads now anyway.
ExprPtr bind_exit(Binder& binder, const ast::At& a, Span span) {
  std::optional<TargetView> wanted = a.args.size() == 1 ? binder.view(*a.args[0]) : std::nullopt;
  if (!wanted || wanted->name.starts_with('$')) {
    binder.diags.error("DJ2031", span, "`@exit` takes one target variable").help =
        "write @exit($pointer->member)";
    return poison(span);
  }
  if (!only_at_return(binder, a.op, span)) return poison(span);
  wanted->at_exit = wanted->base != TargetExpr::Cast && wanted->name != "return";
  return bind_target(binder, *wanted, a.args[0]->span);
}

}  // namespace dj
