// Follows assignments of a body back to target expressions.
#include "compiler/check/pointer_types.h"

#include <algorithm>

#include "compiler/check/bind.h"
#include "compiler/walk_ast.h"

namespace dj {
namespace {

constexpr size_t kMostTypes = 16;  // of one value

using Types = std::vector<TargetExpr>;

// All `name = value` and `return value` of a body.
struct Collector {
  const ScriptNames& names;
  std::unordered_map<std::string, std::vector<const ast::Expr*>>& assigned;
  std::vector<const ast::Expr*>& returned;

  void operator()(const ast::Expr& expr) {
    const auto* assign = std::get_if<ast::Assign>(&expr.node);
    const bool plain = assign != nullptr && !assign->op && !assign->stat_add;
    const auto* name = plain ? std::get_if<ast::Name>(&assign->left->node) : nullptr;
    if (name != nullptr && !names.globals.contains(name->name))
      assigned[name->name].push_back(assign->right.get());
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

PointerTypes::PointerTypes(const ast::Stmt& body, const ScriptNames& names) : names_(names) {
  Collector collect{names, assigned_, returned_};
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
  if (const auto* index = std::get_if<ast::Index>(&value.node))
    return is_element(*index) ? elements(of_local(index->name, known), *index, value.span)
                              : Types{};
  if (const auto* call = std::get_if<ast::Call>(&value.node)) return of_call(*call, known);
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
  if (known.locals.contains(name)) return known.locals.at(name);
  known.locals[name] = {};
  for (int round = 0; round < 2; ++round) {
    for (const ast::Expr* value : assignments->second) {
      const Types found = find(*value, known);
      add(found, known.locals[name]);
    }
  }
  Types types = known.locals[name];
  known.locals.erase(name);
  return types;
}

// What the functions of that name return. They have no target variables: their types mean no place.
Types PointerTypes::of_call(const ast::Call& call, Known& known) const {
  Types types;
  const auto [first, last] = names_.functions.equal_range(call.name);
  for (auto each = first; each != last; ++each) {
    const ast::FunctionDecl& function = *each->second;
    if (function.params.size() != call.args.size() || known.functions.contains(&function)) continue;
    const PointerTypes body(*function.body, names_);
    Known inside{{}, known.functions};
    inside.functions.insert(&function);
    for (const ast::Expr* value : body.returned_) add(body.find(*value, inside), types);
  }
  return types;
}

}  // namespace dj
