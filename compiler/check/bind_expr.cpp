// SPDX-License-Identifier: Apache-2.0
// Binds expressions: names, elements, operators, assignments.
#include <fmt/format.h>

#include "compiler/base/result.h"
#include "compiler/check/forms.h"
#include "compiler/check/overload.h"
#include "runtime/shared/abi.h"

namespace dj {
namespace {

std::string counted_keys(size_t keys) {
  return fmt::format("{} key{}", keys, keys == 1 ? "" : "s");
}

void undeclared(Binder& binder, const std::string& name, Span span, std::string_view what) {
  Diag& diag = binder.diags.error("DJ2016", span, fmt::format("there is no {} `{}`", what, name));
  std::vector<std::string> known;
  for (GlobalId g = 0; g < binder.program.globals.size(); ++g) {
    if (binder.is_array(g)) known.push_back(binder.program.globals[g].name);
  }
  diag.suggest(near_names(name, known));
  if (diag.help.empty()) diag.help = fmt::format("declare it: global {}", name);
}

ExprPtr bind_binary(Binder& binder, const ast::Binary& b, Span span) {
  ExprPtr left = binder.expr(*b.left);
  ExprPtr right = binder.expr(*b.right);
  Type type = b.op == ast::BinOp::Concat ? Type::Str : Type::Int;
  return make(Binary{b.op, std::move(left), std::move(right)}, span, type);
}

ExprPtr bind_in(Binder& binder, const ast::In& i, Span span) {
  if (i.histogram) return bind_in_histogram(binder, i, span);
  std::vector<ExprPtr> keys = binder.exprs(i.keys);
  std::optional<GlobalId> found = find_array(binder, i.array, i.array_span, keys.size());
  if (!found) return poison(span);
  return make(InArray{*found, std::move(keys)}, span, Type::Int);
}

ExprPtr bind_assign(Binder& binder, const ast::Assign& a, Span span) {
  if (a.stat_add) {
    ExprPtr where = bind_place(binder, *a.left);
    binder.expr(*a.right);
    if (where) {
      binder.diags.error("DJ2102", a.op_span, "`<<<` has no value").help =
          "write it as a statement of its own";
    }
    return poison(span);
  }
  ExprPtr where = bind_place(binder, *a.left);
  ExprPtr value = binder.expr(*a.right);
  if (!where) return poison(span);
  return make(Assign{a.op, std::move(where), std::move(value)}, span);
}

ExprPtr bind_crement(Binder& binder, const ast::Crement& c, Span span) {
  ExprPtr where = bind_place(binder, *c.operand);
  if (!where) return poison(span);
  return make(Crement{c.prefix, c.delta, std::move(where)}, span, Type::Int);
}

}  // namespace

ExprPtr Binder::expr(const ast::Expr& e) {
  return std::visit(
      Overload{
          [&](const ast::Number& n) { return make(IntLit{n.value}, e.span, Type::Int); },
          [&](const ast::Fraction& n) {
            notes.doubles = true;
            return make(DoubleLit{n.value}, e.span, Type::Int);
          },
          [&](const ast::String& s) { return make(StrLit{until_nul(s.value)}, e.span, Type::Str); },
          [&](const ast::Name& n) { return bind_name(*this, n, e.span); },
          [&](const ast::Index& i) {
            std::optional<TargetView> found = view(e);
            return found ? bind_target(*this, *found, e.span) : bind_element(*this, i, e.span);
          },
          [&](const ast::Call& c) { return bind_call(*this, c, e.span); },
          [&](const ast::Target&) { return bind_target(*this, *target_view(e), e.span); },
          [&](const ast::At& a) {
            std::optional<TargetView> view = target_view(e);
            return view ? bind_target(*this, *view, e.span) : bind_at(*this, a, e.span);
          },
          [&](const ast::Unary& u) {
            return make(Unary{u.op, expr(*u.operand)}, e.span, Type::Int);
          },
          [&](const ast::Binary& b) { return bind_binary(*this, b, e.span); },
          [&](const ast::Ternary& t) {
            ExprPtr test = bind_condition(*this, *t.condition);
            ExprPtr then = expr(*t.then);
            return make(Ternary{std::move(test), std::move(then), expr(*t.otherwise)}, e.span);
          },
          [&](const ast::Assign& a) { return bind_assign(*this, a, e.span); },
          [&](const ast::Crement& c) { return bind_crement(*this, c, e.span); },
          [&](const ast::In& i) { return bind_in(*this, i, e.span); },
          [&](const ast::Member& m) {
            std::optional<TargetView> found = view(e);
            return found ? bind_target(*this, *found, e.span)
                         : bind_bucket(*this, m, e.span);  // others are refused
          },
          [&](const ast::Match& m) { return bind_match(*this, m, e.span); },
      },
      e.node);
}

std::vector<ExprPtr> Binder::exprs(const std::vector<ast::ExprPtr>& list) {
  std::vector<ExprPtr> bound;
  for (const ast::ExprPtr& each : list) bound.push_back(each ? expr(*each) : nullptr);
  return bound;
}

ExprPtr bind_name(Binder& binder, const ast::Name& n, Span span) {
  const std::optional<GlobalId> global = binder.global(n.name);
  if (!global) return make(LocalRef{binder.local(n.name)}, span);
  if (!binder.is_array(*global)) return make(GlobalRef{*global}, span);
  report_shape(binder, *global, span,
               fmt::format("`{}` is an array with {}, but it is used without them", n.name,
                           counted_keys(binder.program.globals[*global].keys.size())));
  return poison(span);
}

void report_shape(Binder& binder, GlobalId global, Span span, std::string message) {
  GlobalFacts& facts = binder.notes.facts.globals[global];
  if (facts.reported) return;
  facts.reported = true;
  Diag& diag = binder.diags.error("DJ2021", span, std::move(message));
  if (facts.indexed) diag.labels.push_back({*facts.indexed, "first indexed here"});
}

std::optional<GlobalId> find_array(Binder& binder, const std::string& name, Span span,
                                   size_t keys) {
  const std::optional<GlobalId> known = binder.global(name);
  if (!known) {
    if (binder.scope.locals.contains(name)) {
      binder.diags
          .error("DJ2022", span,
                 fmt::format("`{}` is a local variable, but arrays are global", name))
          .help = "give the array another name";
    } else {
      undeclared(binder, name, span, "array");
    }
    return std::nullopt;
  }
  GlobalFacts& facts = binder.notes.facts.globals[*known];
  if (keys > abi::kMaxKeys) {
    if (!facts.reported) {
      binder.diags.error("DJ2026", span,
                         fmt::format("{} keys, but an array has at most {}", keys, abi::kMaxKeys));
    }
    facts.reported = true;
    return std::nullopt;
  }
  size_t expected = binder.program.globals[*known].keys.size();
  if (keys == expected) return known;
  if (facts.reported) return std::nullopt;
  facts.reported = true;
  Diag& diag =
      binder.diags.error("DJ2020", span,
                         fmt::format("`{}` has {}, but {} given here", name, counted_keys(expected),
                                     keys == 1 ? "1 is" : fmt::format("{} are", keys)));
  if (facts.indexed) diag.labels.push_back({*facts.indexed, "first indexed here"});
  return std::nullopt;
}

ExprPtr bind_element(Binder& binder, const ast::Index& i, Span span, bool may_slice) {
  std::vector<ExprPtr> keys = binder.exprs(i.keys);
  std::optional<GlobalId> found = find_array(binder, i.name, i.name_span, keys.size());
  if (!found) return poison(span);
  if (is_slice(keys) && !may_slice) {
    Diag& diag = binder.diags.error("DJ2029", span, "a slice is several elements: it has no value");
    diag.help = fmt::format(
        "slices stand in foreach, behind `in`, in delete, in @count and its kin and in @hist_log; "
        "{} takes one key for each place",
        i.name);
    return poison(span);
  }
  return make(ElementRef{*found, std::move(keys)}, span);
}

ExprPtr bind_place(Binder& binder, const ast::Expr& e) {
  if (const ast::Name* n = std::get_if<ast::Name>(&e.node)) {
    ExprPtr bound = bind_name(binder, *n, e.span);
    return is_poisoned(*bound) ? nullptr : std::move(bound);
  }
  if (const ast::Index* index = std::get_if<ast::Index>(&e.node)) {
    ExprPtr bound = bind_element(binder, *index, e.span);
    return is_poisoned(*bound) ? nullptr : std::move(bound);
  }
  Diag& diag = binder.diags.error("DJ2011", e.span, "djtap does not write target variables");
  diag.notes.push_back("a probe only looks at the program it traces");
  return nullptr;
}

}  // namespace dj
