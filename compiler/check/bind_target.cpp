// Binds target expressions: $name with its path, collected per probe, each distinct one once.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compiler/check/bind.h"
#include "compiler/result.h"

namespace dj {
namespace {

constexpr std::array<std::string_view, 6> kTextForms = {"$vars",   "$parms", "$locals",
                                                        "$return", "$name",  "$provider"};

bool is_text_form(const std::string& name) { return !name.empty() && name.front() == '$'; }

// A constant index: N or -N.
std::optional<int64_t> constant(const ast::Expr& e) {
  if (const ast::Number* number = std::get_if<ast::Number>(&e.node)) return number->value;
  const ast::Unary* unary = std::get_if<ast::Unary>(&e.node);
  if (unary == nullptr || unary->op != ast::UnOp::Neg) return std::nullopt;
  std::optional<int64_t> value = constant(*unary->operand);
  if (!value) return std::nullopt;
  return static_cast<int64_t>(0 - static_cast<uint64_t>(*value));
}

bool same_step(const TargetStep& a, const TargetStep& b) {
  return a.kind == b.kind && a.field == b.field && a.index == b.index;
}

// The first component that makes a point one of djtap's own, as written: "timer.s".
std::string point_words(const ast::ProbePoint& point) {
  std::string words;
  for (const ast::Component& component : point.components) {
    words += (words.empty() ? "" : ".") + component.name;
  }
  return words;
}

// Reads the arguments of @var (from 0 on) or @cast (from 1 on).
void view_words(const ast::At& a, size_t first, TargetView& view) {
  view.well_formed = a.args.size() == first + 1 || a.args.size() == first + 2;
  for (size_t i = first; view.well_formed && i < a.args.size(); ++i) {
    const ast::String* word = std::get_if<ast::String>(&a.args[i]->node);
    view.well_formed = word != nullptr && !word->value.empty();
    if (view.well_formed) (i == first ? view.name : view.module) = word->value;
  }
}

}  // namespace

bool same_target(const TargetExpr& a, const TargetExpr& b) {
  return a.base == b.base && a.name == b.name && a.module == b.module && a.index == b.index &&
         a.bytes == b.bytes && a.is_signed == b.is_signed && a.address_of == b.address_of &&
         a.pretty == b.pretty && a.at_exit == b.at_exit &&
         std::equal(a.path.begin(), a.path.end(), b.path.begin(), b.path.end(), same_step) &&
         std::equal(a.like.begin(), a.like.end(), b.like.begin(), b.like.end(), same_target);
}

std::vector<ViewStep> view_steps(std::span<const ast::Access> path) {
  std::vector<ViewStep> steps;
  for (const ast::Access& access : path)
    steps.push_back({access.field, access.index.get(), access.span});
  return steps;
}

bool is_element(const ast::Index& index) { return index.keys.size() == 1 && index.keys[0]; }

bool is_return_point(const ast::ProbePoint& point) {
  return std::any_of(point.components.begin(), point.components.end(),
                     [](const ast::Component& component) { return component.name == "return"; });
}

std::optional<TargetView> target_view(const ast::Expr& e) {
  TargetView view;
  if (const auto* t = std::get_if<ast::Target>(&e.node)) {
    view.name = t->name;
    view.address_of = t->address_of;
    view.pretty = t->pretty;
    view.path = view_steps(t->path);
    return view;
  }
  if (const auto* m = std::get_if<ast::Member>(&e.node)) {
    std::optional<TargetView> base = target_view(*m->base);
    if (!base || base->base == TargetExpr::Variable || !base->path.empty()) return std::nullopt;
    base->address_of = m->address_of;
    base->pretty = m->pretty;
    base->path = view_steps(m->path);
    return base;
  }
  const auto* a = std::get_if<ast::At>(&e.node);
  if (a == nullptr || (a->op != "var" && a->op != "cast")) return std::nullopt;
  bool cast = a->op == "cast";
  view.base = cast ? TargetExpr::Cast : TargetExpr::Var;
  view_words(*a, cast ? 1 : 0, view);
  if (cast && !a->args.empty()) view.pointer = a->args[0].get();
  return view;
}

std::optional<TargetView> pointer_view(const ast::Expr& e, const PointerTypes& pointers) {
  TargetView view;
  const ast::Expr* base = &e;
  if (const auto* member = std::get_if<ast::Member>(&e.node)) {
    base = member->base.get();
    view.like = pointers.of(*base);
    view.address_of = member->address_of;
    view.pretty = member->pretty;
    view.path = view_steps(member->path);
  }
  const auto* index = std::get_if<ast::Index>(&base->node);
  const auto* name = std::get_if<ast::Name>(&base->node);
  if (index != nullptr && is_element(*index)) {  // p[i]->a is one expression, as $p[i]->a is
    const ast::Expr pointer{index->name_span, ast::Name{index->name}};
    view.like = pointers.of(pointer);
    view.path.insert(view.path.begin(), {{}, index->keys[0].get(), base->span});
  }
  if (view.like.empty()) return std::nullopt;
  view.base = TargetExpr::Cast;
  view.name = name != nullptr ? name->name : index != nullptr ? index->name : "the pointer";
  view.module = view.like.front().module;
  view.pointer = base;
  return view;
}

std::optional<TargetView> Binder::view(const ast::Expr& e) const {
  std::optional<TargetView> found = target_view(e);
  return found ? found : pointer_view(e, *pointers_);
}

// Where no target variable can exist at all; what a name means at a place is resolve's question.
bool Binder::target_allowed(const TargetView& t, Span span) {
  if (is_placeless(t)) return true;
  bool guarded = defined_.contains(t.name);
  const ast::ProbePoint* host = nullptr;
  const ast::ProbePoint* entry = nullptr;
  for (const ast::ProbePoint& point : source_->points) {
    if (host == nullptr && is_host(point)) host = &point;
    if (entry == nullptr && !is_return_point(point)) entry = &point;
  }
  if (host != nullptr && (!guarded || is_host(*source_))) {
    Diag& diag =
        diags_.error("DJ2012", span, fmt::format("{} has no target variables", point_words(*host)));
    diag.labels.push_back({host->span, "this runs in djtap, not in the traced program"});
    return false;
  }
  if (t.name == "return" && entry != nullptr && !guarded) {
    Diag& diag = diags_.error("DJ2013", span, "`$return` exists only where a function returns");
    diag.labels.push_back({entry->span, "this is not a return probe"});
    diag.help = "add .return to the probe point";
    return false;
  }
  return true;
}

TargetId Binder::intern(TargetExpr wanted) {
  auto& targets = probe_ != nullptr ? probe_->targets : program_.function_targets;
  for (size_t i = 0; i < targets.size(); ++i) {
    if (same_target(targets[i], wanted)) return static_cast<TargetId>(i);
  }
  targets.push_back(std::move(wanted));
  return static_cast<TargetId>(targets.size() - 1);
}

std::optional<TargetId> Binder::intern_target(const TargetView& t, Span span,
                                              std::vector<ExprPtr>* args) {
  if (probe_ == nullptr && !target_allowed(t, span)) return std::nullopt;
  uint32_t name_begin = span.begin + (t.address_of ? 1 : 0);
  // The path starts behind the name; without one, the name ends the expression.
  uint32_t name_end = t.path.empty() ? span.end : std::min(span.end, t.path.front().span.begin);
  uint32_t spelled_end = t.base == TargetExpr::Variable
                             ? name_begin + static_cast<uint32_t>(t.name.size()) + 1
                             : name_end;
  TargetExpr wanted{.span = span,
                    .name_span = {span.file, name_begin, std::min(name_end, spelled_end)}};
  wanted.base = t.base;
  wanted.name = t.name;
  wanted.module = t.module;
  wanted.like = t.like;
  wanted.address_of = t.address_of;
  wanted.pretty = static_cast<uint8_t>(t.pretty);
  wanted.at_exit = t.at_exit;
  if (t.pointer != nullptr && args != nullptr) args->push_back(pointer(*t.pointer));
  for (const ViewStep& step : t.path) {
    if (step.index == nullptr) {
      wanted.path.push_back({TargetStep::Field, std::string(step.field), 0, step.span});
    } else if (std::optional<int64_t> index = constant(*step.index)) {
      wanted.path.push_back({TargetStep::ConstElement, "", *index, step.span});
    } else {
      wanted.path.push_back({TargetStep::ArgElement, "", 0, step.span});
      if (args != nullptr) args->push_back(expr(*step.index));
    }
  }
  return intern(std::move(wanted));
}

// The value of a cast's pointer; of p[i] the pointer is p.
ExprPtr Binder::pointer(const ast::Expr& e) {
  const auto* index = std::get_if<ast::Index>(&e.node);
  const bool local = index != nullptr && pointer_view(e, *pointers_);
  return local ? name({index->name}, index->name_span) : expr(e);
}

ExprPtr Binder::target(const TargetView& t, Span span) {
  if (!t.well_formed) {
    bool cast = t.base == TargetExpr::Cast;
    diags_
        .error("DJ2028", span,
               cast ? "@cast takes a pointer and a type's name" : "@var takes a variable's name")
        .help =
        cast ? "write @cast(pointer, \"type\")" : "write @var(\"name\") or @var(\"name@file\")";
    return poison(span);
  }
  if (t.address_of && t.pretty > 0) {
    diags_.error("DJ2014", span, "an address has no text form").help =
        "leave out the '&' or the '$' at the end";
    return poison(span);
  }
  if (is_text_form(t.name)) {
    if (std::find(kTextForms.begin(), kTextForms.end(), t.name) == kTextForms.end()) {
      Diag& diag = diags_.error("DJ2014", span, fmt::format("there is no `${}`", t.name));
      diag.notes.push_back("text forms: $$vars, $$parms, $$locals, $$return");
      std::vector<std::string> near = near_names(t.name, {kTextForms.begin(), kTextForms.end()});
      for (std::string& each : near) each = "$" + each;
      diag.suggest(near);
      return poison(span);
    }
    if (t.address_of || !t.path.empty()) {
      diags_.error("DJ2014", span,
                   fmt::format("`${}` is a text: it has no address and no members", t.name));
      return poison(span);
    }
  }
  if (!target_allowed(t, span)) return poison(span);
  std::vector<ExprPtr> args;
  std::optional<TargetId> id = intern_target(t, span, &args);
  CHECK(id);
  bool text = is_text_form(t.name) || t.pretty > 0;
  return make(TargetRef{*id, std::move(args)}, span, text ? Type::Str : Type::Int);
}

}  // namespace dj
