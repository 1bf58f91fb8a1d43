// SPDX-License-Identifier: Apache-2.0
// TargetView: what syntax is a target expression.
#include "compiler/check/target_view.h"

#include <algorithm>

namespace dj {
namespace {

bool same_step(const TargetStep& a, const TargetStep& b) {
  return a.kind == b.kind && a.field == b.field && a.index == b.index;
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

}  // namespace dj
