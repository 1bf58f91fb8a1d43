// Binds expressions: names, elements, operators, assignments.
#include <fmt/format.h>

#include "compiler/check/bind.h"
#include "compiler/check/overload.h"
#include "compiler/result.h"
#include "runtime/shared/abi.h"

namespace dj {
namespace {

std::string counted_keys(size_t keys) {
  return fmt::format("{} key{}", keys, keys == 1 ? "" : "s");
}

}  // namespace

ExprPtr Binder::expr(const ast::Expr& e) {
  return std::visit(
      Overload{
          [&](const ast::Number& n) { return make(IntLit{n.value}, e.span, Type::Int); },
          [&](const ast::Fraction& n) {
            notes_.doubles = true;
            return make(DoubleLit{n.value}, e.span, Type::Int);
          },
          [&](const ast::String& s) { return make(StrLit{s.value}, e.span, Type::Str); },
          [&](const ast::Name& n) { return name(n, e.span); },
          [&](const ast::Index& i) {
            std::optional<TargetView> found = view(e);
            return found ? target(*found, e.span) : element(i, e.span);
          },
          [&](const ast::Call& c) { return call(c, e.span); },
          [&](const ast::Target&) { return target(*target_view(e), e.span); },
          [&](const ast::At& a) {
            std::optional<TargetView> view = target_view(e);
            return view ? target(*view, e.span) : at(a, e.span);
          },
          [&](const ast::Unary& u) {
            return make(Unary{u.op, expr(*u.operand)}, e.span, Type::Int);
          },
          [&](const ast::Binary& b) { return binary(b, e.span); },
          [&](const ast::Ternary& t) {
            ExprPtr test = condition(*t.condition);
            ExprPtr then = expr(*t.then);
            return make(Ternary{std::move(test), std::move(then), expr(*t.otherwise)}, e.span);
          },
          [&](const ast::Assign& a) { return assign(a, e.span); },
          [&](const ast::Crement& c) { return crement(c, e.span); },
          [&](const ast::In& i) { return in_array(i, e.span); },
          [&](const ast::Member& m) {
            std::optional<TargetView> found = view(e);
            return found ? target(*found, e.span) : hist_bucket(m, e.span);  // others are refused
          },
          [&](const ast::Match& m) { return match(m, e.span); },
      },
      e.node);
}

std::vector<ExprPtr> Binder::exprs(const std::vector<ast::ExprPtr>& list) {
  std::vector<ExprPtr> bound;
  for (const ast::ExprPtr& each : list) bound.push_back(each ? expr(*each) : nullptr);
  return bound;
}

ExprPtr Binder::name(const ast::Name& n, Span span) {
  if (!locals_.contains(n.name)) {
    auto known = notes_.globals.find(n.name);
    if (known != notes_.globals.end()) {
      if (!is_array(known->second)) return make(GlobalRef{known->second}, span);
      report_shape(known->second, span,
                   fmt::format("`{}` is an array with {}, but it is used without them", n.name,
                               counted_keys(program_.globals[known->second].keys.size())));
      return poison(span);
    }
  }
  return make(LocalRef{local(n.name)}, span);
}

void Binder::report_shape(GlobalId global, Span span, std::string message) {
  GlobalFacts& facts = notes_.global_facts[global];
  if (facts.reported) return;
  facts.reported = true;
  Diag& diag = diags_.error("DJ2021", span, std::move(message));
  if (facts.indexed) diag.labels.push_back({*facts.indexed, "first indexed here"});
}

void Binder::undeclared(const std::string& name, Span span, std::string_view what) {
  Diag& diag = diags_.error("DJ2016", span, fmt::format("there is no {} `{}`", what, name));
  std::vector<std::string> known;
  for (GlobalId g = 0; g < program_.globals.size(); ++g) {
    if (is_array(g)) known.push_back(program_.globals[g].name);
  }
  diag.suggest(near_names(name, known));
  if (diag.help.empty()) diag.help = fmt::format("declare it: global {}", name);
}

std::optional<GlobalId> Binder::array(const std::string& name, Span span, size_t keys) {
  auto known = notes_.globals.find(name);
  if (locals_.contains(name) || known == notes_.globals.end()) {
    if (locals_.contains(name)) {
      diags_
          .error("DJ2022", span,
                 fmt::format("`{}` is a local variable, but arrays are global", name))
          .help = "give the array another name";
    } else {
      undeclared(name, span, "array");
    }
    return std::nullopt;
  }
  GlobalFacts& facts = notes_.global_facts[known->second];
  if (keys > abi::kMaxKeys) {
    if (!facts.reported) {
      diags_.error("DJ2026", span,
                   fmt::format("{} keys, but an array has at most {}", keys, abi::kMaxKeys));
    }
    facts.reported = true;
    return std::nullopt;
  }
  size_t expected = program_.globals[known->second].keys.size();
  if (keys == expected) return known->second;
  if (facts.reported) return std::nullopt;
  facts.reported = true;
  Diag& diag =
      diags_.error("DJ2020", span,
                   fmt::format("`{}` has {}, but {} given here", name, counted_keys(expected),
                               keys == 1 ? "1 is" : fmt::format("{} are", keys)));
  if (facts.indexed) diag.labels.push_back({*facts.indexed, "first indexed here"});
  return std::nullopt;
}

ExprPtr Binder::element(const ast::Index& i, Span span, bool may_slice) {
  std::vector<ExprPtr> keys = exprs(i.keys);
  std::optional<GlobalId> found = array(i.name, i.name_span, keys.size());
  if (!found) return poison(span);
  if (is_slice(keys) && !may_slice) {
    Diag& diag = diags_.error("DJ2029", span, "a slice is several elements: it has no value");
    diag.help = fmt::format(
        "slices stand in foreach, behind `in`, in delete, in @count and its kin and in @hist_log; "
        "{} takes one key for each place",
        i.name);
    return poison(span);
  }
  return make(ElementRef{*found, std::move(keys)}, span);
}

ExprPtr Binder::in_array(const ast::In& i, Span span) {
  if (i.histogram) return in_histogram(i, span);
  std::vector<ExprPtr> keys = exprs(i.keys);
  std::optional<GlobalId> found = array(i.array, i.array_span, keys.size());
  if (!found) return poison(span);
  return make(InArray{*found, std::move(keys)}, span, Type::Int);
}

ExprPtr Binder::binary(const ast::Binary& b, Span span) {
  ExprPtr left = expr(*b.left);
  ExprPtr right = expr(*b.right);
  Type type = b.op == ast::BinOp::Concat ? Type::Str : Type::Int;
  return make(Binary{b.op, std::move(left), std::move(right)}, span, type);
}

ExprPtr Binder::place(const ast::Expr& e) {
  if (const ast::Name* n = std::get_if<ast::Name>(&e.node)) {
    ExprPtr bound = name(*n, e.span);
    return is_poisoned(*bound) ? nullptr : std::move(bound);
  }
  if (const ast::Index* index = std::get_if<ast::Index>(&e.node)) {
    ExprPtr bound = element(*index, e.span);
    return is_poisoned(*bound) ? nullptr : std::move(bound);
  }
  Diag& diag = diags_.error("DJ2011", e.span, "djtap does not write target variables");
  diag.notes.push_back("a probe only looks at the program it traces");
  return nullptr;
}

ExprPtr Binder::assign(const ast::Assign& a, Span span) {
  if (a.stat_add) {
    ExprPtr where = place(*a.left);
    expr(*a.right);
    if (where) {
      diags_.error("DJ2102", a.op_span, "`<<<` has no value").help =
          "write it as a statement of its own";
    }
    return poison(span);
  }
  ExprPtr where = place(*a.left);
  ExprPtr value = expr(*a.right);
  if (!where) return poison(span);
  return make(Assign{a.op, std::move(where), std::move(value)}, span);
}

ExprPtr Binder::crement(const ast::Crement& c, Span span) {
  ExprPtr where = place(*c.operand);
  if (!where) return poison(span);
  return make(Crement{c.prefix, c.delta, std::move(where)}, span, Type::Int);
}

}  // namespace dj
