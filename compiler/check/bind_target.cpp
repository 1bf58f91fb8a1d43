// SPDX-License-Identifier: Apache-2.0
// Binds target expressions: $name with its path, collected per probe, each distinct one once.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compiler/base/result.h"
#include "compiler/check/forms.h"
#include "compiler/check/uses.h"

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

// The first component that makes a point one of djtap's own, as written: "timer.s".
std::string point_words(const ast::ProbePoint& point) {
  std::string words;
  for (const ast::Component& component : point.components) {
    words += (words.empty() ? "" : ".") + component.name;
  }
  return words;
}

// The value of a cast's pointer; of p[i] the pointer is p.
ExprPtr bind_pointer(Binder& binder, const ast::Expr& e) {
  const auto* index = std::get_if<ast::Index>(&e.node);
  const bool local = index != nullptr && pointer_view(e, *binder.scope.pointers);
  return local ? bind_name(binder, {index->name}, index->name_span) : binder.expr(e);
}

}  // namespace

// Where no target variable can exist at all; what a name means at a place is resolve's question.
bool target_allowed(Binder& binder, const TargetView& t, Span span) {
  if (is_placeless(t)) return true;
  bool guarded = binder.defined.contains(t.name);
  const ast::ProbePoint* host = nullptr;
  const ast::ProbePoint* entry = nullptr;
  for (const ast::ProbePoint& point : binder.source->points) {
    if (host == nullptr && is_host(point)) host = &point;
    if (entry == nullptr && !is_return_point(point)) entry = &point;
  }
  if (host != nullptr && (!guarded || is_host(*binder.source))) {
    Diag& diag = binder.diags.error("DJ2012", span,
                                    fmt::format("{} has no target variables", point_words(*host)));
    diag.labels.push_back({host->span, "this runs in djtap, not in the traced program"});
    return false;
  }
  if (t.name == "return" && entry != nullptr && !guarded) {
    Diag& diag =
        binder.diags.error("DJ2013", span, "`$return` exists only where a function returns");
    diag.labels.push_back({entry->span, "this is not a return probe"});
    diag.help = "add .return to the probe point";
    return false;
  }
  return true;
}

TargetId intern(Binder& binder, TargetExpr wanted) {
  auto& targets = binder.probe != nullptr ? binder.probe->targets : binder.program.function_targets;
  for (size_t i = 0; i < targets.size(); ++i) {
    if (same_target(targets[i], wanted)) return static_cast<TargetId>(i);
  }
  targets.push_back(std::move(wanted));
  return static_cast<TargetId>(targets.size() - 1);
}

std::optional<TargetId> intern_target(Binder& binder, const TargetView& t, Span span,
                                      std::vector<ExprPtr>* args) {
  if (binder.probe == nullptr && !target_allowed(binder, t, span)) return std::nullopt;
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
  if (t.pointer != nullptr && args != nullptr) args->push_back(bind_pointer(binder, *t.pointer));
  for (const ViewStep& step : t.path) {
    if (step.index == nullptr) {
      wanted.path.push_back({TargetStep::Field, std::string(step.field), 0, step.span});
    } else if (std::optional<int64_t> index = constant(*step.index)) {
      wanted.path.push_back({TargetStep::ConstElement, "", *index, step.span});
    } else {
      wanted.path.push_back({TargetStep::ArgElement, "", 0, step.span});
      if (args != nullptr) args->push_back(binder.expr(*step.index));
    }
  }
  return intern(binder, std::move(wanted));
}

ExprPtr bind_target(Binder& binder, const TargetView& t, Span span) {
  if (!t.well_formed) {
    bool cast = t.base == TargetExpr::Cast;
    binder.diags
        .error("DJ2028", span,
               cast ? "@cast takes a pointer and a type's name" : "@var takes a variable's name")
        .help =
        cast ? "write @cast(pointer, \"type\")" : "write @var(\"name\") or @var(\"name@file\")";
    return poison(span);
  }
  if (t.address_of && t.pretty > 0) {
    binder.diags.error("DJ2014", span, "an address has no text form").help =
        "leave out the '&' or the '$' at the end";
    return poison(span);
  }
  if (is_text_form(t.name)) {
    if (std::find(kTextForms.begin(), kTextForms.end(), t.name) == kTextForms.end()) {
      Diag& diag = binder.diags.error("DJ2014", span, fmt::format("there is no `${}`", t.name));
      diag.notes.push_back("text forms: $$vars, $$parms, $$locals, $$return");
      std::vector<std::string> near = near_names(t.name, {kTextForms.begin(), kTextForms.end()});
      for (std::string& each : near) each = "$" + each;
      diag.suggest(near);
      return poison(span);
    }
    if (t.address_of || !t.path.empty()) {
      binder.diags.error("DJ2014", span,
                         fmt::format("`${}` is a text: it has no address and no members", t.name));
      return poison(span);
    }
  }
  if (!target_allowed(binder, t, span)) return poison(span);
  std::vector<ExprPtr> args;
  std::optional<TargetId> id = intern_target(binder, t, span, &args);
  CHECK(id);
  bool text = is_text_form(t.name) || t.pretty > 0;
  return make(TargetRef{*id, std::move(args)}, span, text ? Type::Str : Type::Int);
}

}  // namespace dj
