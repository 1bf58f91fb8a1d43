// SPDX-License-Identifier: Apache-2.0
// Follows assignments of a body back to target expressions.
#include "compiler/check/pointer_types.h"

#include <algorithm>

#include "compiler/check/target_view.h"
#include "compiler/stages/walk_ast.h"

namespace dj {
namespace {

constexpr size_t kMostTypes = 16;  // of one value

using Types = std::vector<TargetExpr>;

struct Assignment {
  std::string name;
  const ast::Expr* value;
};

// All `name = value` and `return value` of a body, in its order.
struct Collector {
  const ScriptNames& names;
  std::vector<Assignment>& assigned;
  std::vector<const ast::Expr*>& returned;

  void operator()(const ast::Expr& expr) {
    const auto* assign = std::get_if<ast::Assign>(&expr.node);
    const bool plain = assign != nullptr && !assign->op && !assign->stat_add;
    const auto* name = plain ? std::get_if<ast::Name>(&assign->left->node) : nullptr;
    if (name != nullptr && !names.globals.contains(name->name))
      assigned.push_back({name->name, assign->right.get()});
    ast::for_each_child(expr, *this);
  }
  void operator()(const ast::Stmt& stmt) {
    const auto* result = std::get_if<ast::Return>(&stmt.node);
    if (result != nullptr && result->value) returned.push_back(result->value.get());
    ast::for_each_child(stmt, *this);
  }
};

void add_path(std::span<const ViewStep> path, TargetExpr& type) {
  for (const ViewStep& step : path) {
    const bool element = step.index != nullptr;
    type.path.push_back({element ? TargetStep::ConstElement : TargetStep::Field,
                         std::string(step.field), 0, step.span});
  }
}

TargetExpr of_view(const TargetView& view, Span span) {
  TargetExpr type{.span = span, .name_span = span};
  type.base = view.base;
  type.name = view.name;
  type.module = view.module;
  type.address_of = view.address_of;
  add_path(view.path, type);
  return type;
}

// Whether `types` has more now.
bool add(const Types& more, Types& types) {
  const size_t before = types.size();
  for (const TargetExpr& type : more) {
    const bool there = std::any_of(types.begin(), types.end(),
                                   [&](const auto& each) { return same_target(each, type); });
    if (!there && types.size() < kMostTypes) types.push_back(type);
  }
  return types.size() > before;
}

Types both(Types types, const Types& more) {
  add(more, types);
  return types;
}

// The types of base->path.
Types members(Types types, const ast::Member& member) {
  for (TargetExpr& type : types) {
    type.address_of = member.address_of;  // (&$x)->a is $x->a
    add_path(view_steps(member.path), type);
  }
  return types;
}

// The types of name[index].
Types elements(Types types, const ast::Index& index, Span span) {
  for (TargetExpr& type : types) {
    const ViewStep step{{}, index.keys[0].get(), span};
    add_path({&step, 1}, type);
  }
  return types;
}

}  // namespace

ScriptNames::ScriptNames(const ast::Script& script) {
  for (const ast::GlobalDecl& global : script.globals) globals.insert(global.name);
  for (const ast::FunctionDecl& function : script.functions)
    functions.emplace(function.name, &function);
}

// Functions return what others return: as with a body's names, rounds until nothing comes of it.
std::vector<TargetExpr> ScriptNames::results(const ast::Call& call) const {
  for (bool more = !results_.has_value(); more;) {
    if (!results_) results_.emplace();
    more = false;
    for (const auto& [name, function] : functions)
      more |= add(PointerTypes(*function->body, *this).returned(), (*results_)[function]);
  }
  Types types;
  const auto [first, last] = functions.equal_range(call.name);
  for (auto each = first; each != last; ++each) {
    const auto known = results_->find(each->second);
    const bool fits = each->second->params.size() == call.args.size();
    if (fits && known != results_->end()) add(known->second, types);
  }
  return types;
}

// Names are assigned to each other in any order, and to themselves (p = p->next): what is known of
// one goes round until nothing comes of it, one assignment further each time.
PointerTypes::PointerTypes(const ast::Stmt& body, const ScriptNames& names) : names_(names) {
  std::vector<Assignment> assigned;
  std::vector<const ast::Expr*> returned;
  Collector collect{names, assigned, returned};
  collect(body);
  bool more = true;
  for (size_t round = 0; more && round <= assigned.size(); ++round) {
    more = false;
    for (const auto& [name, value] : assigned) more |= add(of(*value), types_[name]);
  }
  for (const ast::Expr* value : returned) add(of(*value), returned_);
}

Types PointerTypes::of_name(const std::string& name) const {
  const auto known = types_.find(name);
  return known == types_.end() ? Types{} : known->second;
}

Types PointerTypes::of(const ast::Expr& value) const {
  if (std::optional<TargetView> view = target_view(value)) {
    const bool pointing = view->well_formed && view->pretty == 0 && !view->name.starts_with('$');
    return pointing ? Types{of_view(*view, value.span)} : Types{};
  }
  if (const auto* name = std::get_if<ast::Name>(&value.node)) return of_name(name->name);
  if (const auto* index = std::get_if<ast::Index>(&value.node))
    return is_element(*index) ? elements(of_name(index->name), *index, value.span) : Types{};
  if (const auto* call = std::get_if<ast::Call>(&value.node)) return names_.results(*call);
  if (const auto* choice = std::get_if<ast::Ternary>(&value.node))
    return both(of(*choice->then), of(*choice->otherwise));
  if (const auto* assign = std::get_if<ast::Assign>(&value.node))
    return assign->op || assign->stat_add ? Types{} : of(*assign->right);
  if (const auto* member = std::get_if<ast::Member>(&value.node))
    return member->pretty > 0 ? Types{} : members(of(*member->base), *member);
  const auto* at = std::get_if<ast::At>(&value.node);
  if (at != nullptr && (at->op == "entry" || at->op == "exit") && at->args.size() == 1)
    return of(*at->args[0]);
  if (at != nullptr && at->op == "choose_defined" && at->args.size() == 2)
    return both(of(*at->args[0]), of(*at->args[1]));
  return {};
}

}  // namespace dj
