// SPDX-License-Identifier: Apache-2.0
// The warnings, and the error of a name that was meant for something else. Only for scripts without
// errors: an error may be why a name looks unused.
#include "compiler/check/lint.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/stages/walk.h"
#include "stdlib/builtins.h"

namespace dj {
namespace {

// What one body does with one local.
struct LocalUses {
  const NameUse* first_read = nullptr;
  const NameUse* first_write = nullptr;
  bool bound = false;  // a foreach variable: nobody has to read it
  // `if (n++ == 0)`: changed and looked at in one breath, never set, not in a loop.
  const NameUse* restarts = nullptr;
  bool set = false;
};

bool is_builtin(const std::string& name) {
  return std::any_of(builtins().begin(), builtins().end(),
                     [&](const Builtin& row) { return row.name == name; });
}

// Words that mean something in other languages, written where a statement begins.
std::string foreign_help(std::string_view name) {
  constexpr std::string_view kDeclaring[] = {"int",  "long", "char", "unsigned", "bool", "string",
                                             "auto", "var",  "let",  "local",    "my",   "const"};
  if (std::find(std::begin(kDeclaring), std::end(kDeclaring), name) != std::end(kDeclaring))
    return "variables are not declared: write the name and its value alone";
  if (name == "do") return "there is no do loop: use while (condition) { ... }";
  return "";
}

// What may stand alone as a statement.
const std::vector<std::string> kStatementWords = {"next", "break", "continue", "return"};

// To declare it, on a line of its own before all others.
Fix declaring(const std::string& name, Span place) {
  return {{place.file, 0, 0}, fmt::format("global {}\n", name)};
}

void help_never_set(const std::string& name, uint32_t unit, const Uses& uses,
                    const Program& program, Diag& diag) {
  const std::vector<NameUse>& list = uses.names.at(name);
  if (std::any_of(list.begin(), list.end(),
                  [&](const NameUse& u) { return u.unit != unit && is_write(u.use); })) {
    diag.help = fmt::format(
        "variables belong to one probe or function; to share it declare: global {}", name);
    return diag.fixes.push_back(declaring(name, diag.span));
  }
  if (is_builtin(name)) {
    diag.help = fmt::format("call the function: {}()", name);
    return diag.fixes.push_back({diag.span, name + "()"});
  }
  if (diag.help = foreign_help(name); !diag.help.empty()) return;
  std::vector<std::string> known;
  for (const Global& global : program.globals) known.push_back(global.name);
  for (const auto& [other, others] : uses.names) {
    bool set_here = std::any_of(others.begin(), others.end(), [&](const NameUse& u) {
      return u.unit == unit && is_write(u.use);
    });
    if (other != name && set_here) known.push_back(other);
  }
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  diag.suggest(near_names(name, known));
}

// Has the place been complained about? `if (n = 1)` is one mistake.
bool is_told(Span place, const Diags& diags) {
  return std::any_of(diags.all().begin(), diags.all().end(), [&](const Diag& diag) {
    return diag.code == "DJ2901" && diag.span.file == place.file &&
           diag.span.begin <= place.begin && place.end <= diag.span.end;
  });
}

bool is_offered(Span span, const ast::Script& script) {
  return span.file != 0 ||
         std::any_of(script.aliases.begin(), script.aliases.end(), [&](const ast::Alias& alias) {
           return alias.span.begin <= span.begin && span.end <= alias.span.end;
         });
}

// LocalIn: one name, as one unit (a probe or a function) uses it.
struct LocalIn {
  const std::string& name;
  uint32_t unit;
  const LocalUses& local;
  const NameUse* by_alias;  // where an alias of a tapset sets such a variable; null: none does
};

void lint_local(const LocalIn& in, const ast::Script& script, const Uses& uses,
                const Program& program, Diags& diags) {
  const auto& [name, unit, local, by_alias] = in;
  const auto to_see_it = [&, by_alias](Diag& diag, const char* what) {
    diag.help = fmt::format("{} declare: global {}", what, name);
    diag.fixes.push_back(declaring(name, diag.span));
    if (by_alias != nullptr)
      diag.labels.push_back({by_alias->span, "set by an alias, too: so it is a local variable"});
  };
  if (local.first_read != nullptr && local.first_write == nullptr) {
    const bool alone = local.first_read->alone;
    Diag& diag = alone ? diags.error("DJ2035", local.first_read->span,
                                     fmt::format("`{}` alone does nothing, and is never set", name))
                       : diags.warning("DJ2902", local.first_read->span,
                                       fmt::format("`{}` is never set", name));
    help_never_set(name, unit, uses, program, diag);
    if (alone && diag.help.empty()) diag.suggest(near_names(name, kStatementWords));
  }
  if (local.restarts != nullptr && !local.set) {
    Diag& diag =
        diags.warning("DJ2906", local.restarts->span,
                      fmt::format("`{}` is a local variable: it starts at 0 in every hit", name));
    to_see_it(diag, "to go on from hit to hit");
  }
  // What an alias offers need not be used; a tapset (a file behind the script) offers much.
  bool offered = local.first_write != nullptr && is_offered(local.first_write->span, script);
  const bool unread = local.first_write != nullptr && local.first_read == nullptr && !local.bound;
  if (unread && !offered && !is_told(local.first_write->span, diags)) {
    Diag& diag = diags.warning("DJ2903", local.first_write->span,
                               fmt::format("`{}` is set but never read", name));
    to_see_it(diag, "to see it at the end");
  }
}

// Whole numbers divided by a literal 0; doubles become infinite.
struct ZeroDivisors {
  Diags& diags;

  void operator()(const Expr& expr) {
    const auto* binary = std::get_if<Binary>(&expr.node);
    const auto* assign = std::get_if<Assign>(&expr.node);
    if (binary != nullptr) look(binary->op, *binary->right);
    if (assign != nullptr && assign->op) look(*assign->op, *assign->value);
    for_each_child(expr, *this);
  }
  void operator()(const Stmt& stmt) { for_each_child(stmt, *this); }

  void look(ast::BinOp op, const Expr& divisor) {
    const auto* number = std::get_if<IntLit>(&divisor.node);
    const bool divides = op == ast::BinOp::Div || op == ast::BinOp::Mod;
    if (!divides || number == nullptr || number->value != 0 || is_told(divisor.span, diags)) return;
    diags.warning("DJ2107", divisor.span, "division by zero is an error each time it runs");
  }
};

}  // namespace

void lint(const ast::Script& script, const Uses& uses, const Program& program, Diags& diags) {
  std::set<std::string> globals;
  for (const Global& global : program.globals) globals.insert(global.name);
  for (const auto& [name, list] : uses.names) {
    if (globals.contains(name)) continue;
    std::vector<LocalUses> by_unit(uses.units.size());
    const NameUse* by_alias = nullptr;
    for (const NameUse& use : list) {
      if (use.span.file != 0 && use.use == Use::Set && !uses.units[use.unit].is_function)
        by_alias = &use;
      LocalUses& local = by_unit[use.unit];
      if (is_read(use.use) && local.first_read == nullptr) local.first_read = &use;
      if (is_write(use.use) && local.first_write == nullptr) local.first_write = &use;
      local.bound |= use.use == Use::Bind;
      local.set |= use.use != Use::UpdateRead && is_write(use.use);
      if (use.use == Use::UpdateRead && !uses.units[use.unit].is_function) local.restarts = &use;
      local.set |= use.looped;
    }
    for (uint32_t u = 0; u < by_unit.size(); ++u) {
      lint_local({name, u, by_unit[u], by_alias}, script, uses, program, diags);
    }
  }
  ZeroDivisors divisors{diags};
  for (const Function& function : program.functions) divisors(*function.body);
  for (const Probe& probe : program.probes) divisors(*probe.body);
  for (const Probe& probe : program.probes) {
    if (!probe.empty) continue;
    diags.warning("DJ2904", probe.span, "this probe has no effect: its body is empty");
    return;  // once is enough, they are often many and meant
  }
}

}  // namespace dj
