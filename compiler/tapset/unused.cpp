// SPDX-License-Identifier: Apache-2.0
// Counts names: a local that is mentioned only where alias bodies set it is read by nobody.
#include "compiler/tapset/unused.h"

#include <algorithm>
#include <map>

#include "compiler/stages/walk_ast.h"
#include "stdlib/builtins.h"

namespace dj {

using namespace ast;

namespace {

// Built-in functions and print's family that only give a value.
bool gives_only(const std::string& name) {
  if (name.starts_with("sprint") || name.ends_with("_arg")) return true;
  if (name == "register" || name == "u_register") return true;
  if (name == "tokenize") return false;  // goes on from call to call
  const std::vector<Builtin>& rows = builtins();
  auto row =
      std::find_if(rows.begin(), rows.end(), [&](const Builtin& b) { return b.name == name; });
  return row != rows.end() && !row->signature.starts_with("void");
}

struct Mentions {
  std::map<std::string, size_t> count;

  void operator()(const Expr& expr) {
    if (const auto* name = std::get_if<Name>(&expr.node)) ++count[name->name];
    for_each_child(expr, *this);
  }
  void operator()(const Stmt& stmt) {
    if (const auto* loop = std::get_if<Foreach>(&stmt.node)) {
      for (const LoopKey& key : loop->keys) ++count[key.name];
      if (loop->value) ++count[loop->value->name];
    }
    for_each_child(stmt, *this);
  }
};

// local = expression as a statement; else null.
const Assign* plain_assign(const Stmt& stmt) {
  const auto* alone = std::get_if<ExprStmt>(&stmt.node);
  const auto* assign = alone == nullptr ? nullptr : std::get_if<Assign>(&alone->expr->node);
  bool plain = assign != nullptr && !assign->op && !assign->stat_add;
  return plain && std::holds_alternative<Name>(assign->left->node) ? assign : nullptr;
}

const std::string& target(const Assign& assign) { return std::get<Name>(assign.left->node).name; }

}  // namespace

// Whether code does more than set its own locals.
struct UnusedValues::Changes {
  const UnusedValues& known;
  bool locals_count = false;  // setting a local counts too
  bool found = false;

  bool is_local(const Expr& expr) const {
    const auto* name = std::get_if<Name>(&expr.node);
    return name != nullptr && !locals_count && !known.globals_.contains(name->name);
  }
  void operator()(const Expr& expr) {
    if (const auto* set = std::get_if<Assign>(&expr.node)) found |= !is_local(*set->left);
    if (const auto* step = std::get_if<Crement>(&expr.node)) found |= !is_local(*step->operand);
    found |= std::holds_alternative<Match>(expr.node);  // matched() tells of the last one
    if (const auto* call = std::get_if<Call>(&expr.node)) {
      bool own = known.functions_.contains(call->name);
      bool quiet = own ? !known.busy_.contains(call->name) : gives_only(call->name);
      found |= !quiet;
    }
    for_each_child(expr, *this);
  }
  void operator()(const Stmt& stmt) {
    found |= std::holds_alternative<Delete>(stmt.node) || std::holds_alternative<Next>(stmt.node);
    for_each_child(stmt, *this);
  }
};

UnusedValues::UnusedValues(const Script& script) {
  for (const GlobalDecl& global : script.globals) globals_.insert(global.name);
  for (const FunctionDecl& function : script.functions) functions_.insert(function.name);
  for (bool more = true; more;) {
    more = false;
    for (const FunctionDecl& function : script.functions) {
      Changes changes{*this};
      changes(*function.body);
      if (changes.found) more |= busy_.insert(function.name).second;
    }
  }
}

bool UnusedValues::changes_something(const Expr& expr) const {
  Changes changes{*this, true};
  changes(expr);
  return changes.found;
}

void UnusedValues::drop(Block& body, size_t own) const {
  for (bool more = true; more;) {
    more = false;
    Mentions mentions;
    for (const StmtPtr& part : body.body) mentions(*part);
    std::map<std::string, size_t> only_set;
    std::vector<Block*> parts;
    for (size_t i = 0; i < body.body.size(); ++i) {
      auto* part = i == own ? nullptr : std::get_if<Block>(&body.body[i]->node);
      if (part != nullptr) parts.push_back(part);
    }
    auto unused = [&](const Assign& assign) {
      return !globals_.contains(target(assign)) && !changes_something(*assign.right);
    };
    for (const Block* part : parts) {
      for (const StmtPtr& stmt : part->body) {
        const Assign* assign = plain_assign(*stmt);
        if (assign != nullptr && unused(*assign)) ++only_set[target(*assign)];
      }
    }
    for (Block* part : parts) {
      more |= std::erase_if(part->body, [&](const StmtPtr& stmt) {
                const Assign* assign = plain_assign(*stmt);
                return assign != nullptr && unused(*assign) &&
                       only_set[target(*assign)] == mentions.count[target(*assign)];
              }) > 0;
    }
  }
}

}  // namespace dj
