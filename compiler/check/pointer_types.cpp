// Follows assignments of a body back to target expressions.
#include "compiler/check/pointer_types.h"

#include <algorithm>

#include "compiler/check/bind.h"
#include "compiler/walk_ast.h"

namespace dj {
namespace {

constexpr size_t kMostTypes = 16;  // of one value

using Types = std::vector<TargetExpr>;

// All `name = value` of a body.
struct Collector {
  std::unordered_map<std::string, std::vector<const ast::Expr*>>& assigned;
  const NameSet& globals;

  void operator()(const ast::Expr& expr) {
    const auto* assign = std::get_if<ast::Assign>(&expr.node);
    const bool plain = assign != nullptr && !assign->op && !assign->stat_add;
    const auto* name = plain ? std::get_if<ast::Name>(&assign->left->node) : nullptr;
    if (name != nullptr && !globals.contains(name->name))
      assigned[name->name].push_back(assign->right.get());
    ast::for_each_child(expr, *this);
  }
  void operator()(const ast::Stmt& stmt) { ast::for_each_child(stmt, *this); }
};

void add_path(std::span<const ast::Access> path, TargetExpr& type) {
  for (const ast::Access& access : path) {
    if (access.kind == ast::Access::Field) {
      type.path.push_back({TargetStep::Field, access.field, 0, access.span});
    } else {
      type.path.push_back({TargetStep::ConstElement, "", 0, access.span});
    }
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

void add(const Types& more, Types& types) {
  for (const TargetExpr& type : more) {
    const bool there = std::any_of(types.begin(), types.end(),
                                   [&](const auto& each) { return same_target(each, type); });
    if (!there && types.size() < kMostTypes) types.push_back(type);
  }
}

Types both(Types types, const Types& more) {
  add(more, types);
  return types;
}

// The types of base->path.
Types members(Types types, const ast::Member& member) {
  for (TargetExpr& type : types) {
    type.address_of = member.address_of;  // (&$x)->a is $x->a
    add_path(member.path, type);
  }
  return types;
}

}  // namespace

NameSet declared_globals(const ast::Script& script) {
  NameSet names;
  for (const ast::GlobalDecl& global : script.globals) names.insert(global.name);
  return names;
}

PointerTypes::PointerTypes(const ast::Stmt& body, const NameSet& globals) {
  Collector collect{assigned_, globals};
  collect(body);
}

Types PointerTypes::of(const ast::Expr& value) const {
  Known known;
  return find(value, known);
}

Types PointerTypes::find(const ast::Expr& value, Known& known) const {
  if (std::optional<TargetView> view = target_view(value)) {
    const bool pointing = view->well_formed && view->pretty == 0 && !view->name.starts_with('$');
    return pointing ? Types{of_view(*view, value.span)} : Types{};
  }
  if (const auto* name = std::get_if<ast::Name>(&value.node)) return of_local(name->name, known);
  if (const auto* choice = std::get_if<ast::Ternary>(&value.node))
    return both(find(*choice->then, known), find(*choice->otherwise, known));
  if (const auto* assign = std::get_if<ast::Assign>(&value.node))
    return assign->op || assign->stat_add ? Types{} : find(*assign->right, known);
  if (const auto* member = std::get_if<ast::Member>(&value.node))
    return member->pretty > 0 ? Types{} : members(find(*member->base, known), *member);
  const auto* at = std::get_if<ast::At>(&value.node);
  if (at != nullptr && (at->op == "entry" || at->op == "exit") && at->args.size() == 1)
    return find(*at->args[0], known);
  if (at != nullptr && at->op == "choose_defined" && at->args.size() == 2)
    return both(find(*at->args[0], known), find(*at->args[1], known));
  return {};
}

// p = $head ... p = p->next: while p is looked for, p is what was found of it so far.
Types PointerTypes::of_local(const std::string& name, Known& known) const {
  const auto assignments = assigned_.find(name);
  if (assignments == assigned_.end()) return {};
  if (known.contains(name)) return known.at(name);
  known[name] = {};
  for (int round = 0; round < 2; ++round) {
    for (const ast::Expr* value : assignments->second) {
      const Types found = find(*value, known);
      add(found, known[name]);
    }
  }
  Types types = known[name];
  known.erase(name);
  return types;
}

}  // namespace dj
