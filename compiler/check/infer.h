// SPDX-License-Identifier: Apache-2.0
// Infer: the second pass over the bodies. Finds the type of every variable, key, parameter, result
// and expression by unification; what nothing decides is a number.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/check/check.h"
#include "compiler/check/notes.h"
#include "compiler/check/type_table.h"
#include "compiler/diag/diag.h"
#include "compiler/stages/program.h"

namespace dj {

class Infer {
 public:
  Infer(Program& program, Notes& notes, Diags& diags);
  // Visits all bodies, then writes the types into the Program and finishes the formats.
  void run(const DoubleTargets& doubles);

 private:
  // The types of one body's names.
  struct FrameVars {
    std::vector<TypeVar> locals;
    const Frame* frame = nullptr;
  };
  // A slot that a value goes to: `x`, key 2 of `a`, argument 1 of `f`.
  struct Slot {
    TypeVar type = 0;
    std::string words;
  };

  // infer.cpp
  void make_slots();
  void finish();
  void finish_prints();
  void finish_print(Print& print);

  // infer_stmt.cpp
  void stmt(Stmt& s);
  void foreach_loop(Foreach& loop);
  void stat_add(StatAdd& add);
  void snapshot(Snapshot& s);

  // infer_expr.cpp
  TypeVar value(Expr& e);  // complains when there is none
  TypeVar visit(Expr& e);
  template <class Operands>
  TypeVar result(Expr& e, Operands operands);
  void binary(Binary& b);
  TypeVar ternary(Ternary& t);
  TypeVar assign(Assign& a);
  TypeVar call(CallFunction& c);
  TypeVar inlined(Inlined& i);
  void call(CallBuiltin& c);
  void print(Print& p);
  void keys(GlobalId array, std::vector<ExprPtr>& given);
  // The type of a variable or element that is written or read; refuses a plain use of an aggregate.
  TypeVar place(Expr& e);
  void aggregate_place(Expr& e);  // one that <<< or an @op works on
  TypeVar aggregate_misuse(GlobalId global, Span span);

  // infer_report.cpp
  // e must be of this type: "`x` is a string, but <why> needs a number".
  // False when it is not.
  bool want(Expr& e, Type type, std::string_view why, std::string help = "");
  // Both operands of an operator; two of the wrong type are one mistake.
  void want_both(Binary& b, Type type, std::string_view why, const std::string& help);
  // The same once it is known to differ; null: its cause was reported before.
  Diag* mismatch(const Expr& e, TypeVar v, Type wanted, std::string_view why, std::string help);
  // The value goes to the slot: both have one type from here on.
  void flow(const Slot& slot, const Expr& e, TypeVar v);
  // Two things that must have one type; `at` is where they meet.
  void meet(const Slot& a, const Slot& b, Span at);
  std::string key_words(GlobalId array, size_t i) const;
  void no_value(const Expr& e);
  std::string describe(const Expr& e) const;
  const TargetExpr* target_of(const Expr& e) const;  // null: e is no target
  void suggest_text(const Expr& e, Diag& diag) const;

  TypeVar remember(Expr& e, TypeVar v) {
    types_.emplace_back(&e, v);
    return v;
  }
  TypeVar number(const Expr& e) { return table_.known(Type::Int, e.span); }
  TypeVar string(const Expr& e) { return table_.known(Type::Str, e.span); }

  Program& program_;
  Notes& notes_;
  Diags& diags_;
  TypeTable table_;
  std::vector<TypeVar> global_values_;
  std::vector<std::vector<TypeVar>> global_keys_;
  std::vector<TypeVar> results_;            // by FunctionId
  std::vector<FrameVars> function_frames_;  // by FunctionId
  std::vector<FrameVars> probe_frames_;     // by ProbeId
  const FrameVars* frame_ = nullptr;        // of the body being visited
  FunctionId function_ = 0;                 // the same, for `return`
  std::vector<std::pair<Expr*, TypeVar>> types_;
};

}  // namespace dj
