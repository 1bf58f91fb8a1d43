// SPDX-License-Identifier: Apache-2.0
// Binder: one body, a probe's or a function's, while its syntax becomes a Program tree: what is
// known of its surroundings, and of its names so far. It belongs to bind.cpp, which makes one per
// body. What one form of the syntax becomes is a function of forms.h.
#pragma once
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/check/notes.h"
#include "compiler/check/target_view.h"

namespace dj {

// What belongs to the function whose statements are being bound, or to the probe.
struct BodyScope {
  const PointerTypes* pointers;  // of this body
  std::unordered_map<std::string, LocalId> locals = {};
  int loops = 0;  // that are open
  // In a function: its `next`, and its arguments as they came.
  std::optional<FunctionId> next = std::nullopt;
  std::vector<LocalId> arguments = {};
};

class Binder {
 public:
  // What is bound: a probe with its syntax, or a function (both null).
  struct Bound {
    Probe* probe = nullptr;
    const ast::Probe* source = nullptr;
  };
  // All of them outlive it. `frame`: of the probe or function.
  Binder(Program& program, Notes& notes, Diags& diags, Frame& frame, const PointerTypes& pointers,
         const Bound& bound);

  Program& program;
  Notes& notes;
  Diags& diags;
  Frame& frame;
  Probe* const probe;
  const ast::Probe* const source;

  BodyScope scope;
  // Calls whose statements are being bound in a probe, innermost last; how many there were in all.
  std::vector<Inlined> inlined;
  size_t inlined_calls = 0;
  std::unordered_set<std::string> defined;  // $names that this probe asks @defined of
  std::vector<std::string> entry_calls;     // functions whose value at the entry is being bound

  // Never null: what has a mistake is reported and becomes poison().
  StmtPtr stmt(const ast::Stmt& s);
  ExprPtr expr(const ast::Expr& e);
  std::vector<ExprPtr> exprs(const std::vector<ast::ExprPtr>& list);  // a null one stays null

  // The local of this name, made on its first use.
  LocalId local(const std::string& name);
  LocalId add_local(const std::string& name);     // hides others of the name
  LocalId hidden_local(const std::string& name);  // no script can name it
  // The global that the name means here; none: it means a local.
  std::optional<GlobalId> global(const std::string& name) const;
  bool is_array(GlobalId id) const { return !program.globals[id].keys.empty(); }
  // A function's statements: `return` and `next` mean the function.
  bool is_function() const { return probe == nullptr || !inlined.empty(); }
  // The target expression that `e` is here, by its form or by what a name points to.
  std::optional<TargetView> view(const ast::Expr& e) const;
};

// Nodes of the tree.
template <typename Node>
ExprPtr make(Node node, Span span, Type type = Type::Unknown) {
  return std::make_unique<Expr>(Expr{type, span, std::move(node)});
}
template <typename Node>
StmtPtr make_stmt(Node node, Span span) {
  return std::make_unique<Stmt>(Stmt{span, std::move(node)});
}
// Stands for an expression whose mistake was reported.
ExprPtr poison(Span span);

}  // namespace dj
