// SPDX-License-Identifier: Apache-2.0
// Doubles: the third pass over the bodies. To inference all numbers are alike; here it is found out
// which of them are doubles. A double makes a double of what it is assigned to, passed to or
// computed with; an int on such a way is converted. The other way there is only what the script
// says: round(), trunc(), floor(), ceil().
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "compiler/check/check.h"
#include "compiler/check/notes.h"
#include "compiler/diag/diag.h"
#include "compiler/stages/program.h"

namespace dj {

class Doubles {
 public:
  Doubles(Program& program, const Notes& notes, const DoubleTargets& targets, Diags& diags)
      : program_(program), notes_(notes), targets_(targets), diags_(diags) {}
  // Sets the types of doubles, puts in conversions and reports doubles where only whole numbers
  // can stand.
  void run();

 private:
  void visit_all();
  Type visit(ExprPtr& e);
  Type binary(Binary& b);
  Type assign(Assign& a);
  Type call(CallFunction& c);
  Type call(const CallBuiltin& row, std::vector<ExprPtr>& args);
  void print(Print& p);
  void keys(GlobalId array, std::vector<ExprPtr>& given);
  Type place(Expr& e);
  bool is_double(TargetId target) const;
  void stmt(Stmt& s);
  void foreach_loop(Foreach& loop);

  // e, whose type was found to be `from`, becomes a double.
  void convert(ExprPtr& e, Type from);
  void want_double(ExprPtr& e) { convert(e, visit(e)); }
  // "$x is a number with a fraction, but <why> needs a whole number".
  void want_whole(ExprPtr& e, std::string_view why, std::string_view help = {});
  // A value goes to a slot; `fixed`: the slot was declared a whole number.
  void flow(ExprPtr& e, Type& slot, bool fixed, std::string_view slot_words);
  void refuse(const Expr& e, std::string_view why, std::string_view help);
  void raise(Type& slot);
  Type& slot_of(const Expr& place);
  bool is_fixed(const Expr& place) const;
  std::string describe(const Expr& e) const;

  Program& program_;
  const Notes& notes_;
  const DoubleTargets& targets_;
  Diags& diags_;
  Frame* frame_ = nullptr;   // of the body being visited
  FunctionId function_ = 0;  // the same, for `return`
  ProbeId probe_ = 0;        // the same, for targets
  bool changed_ = false;     // a slot became a double: its users must be seen again
  bool last_ = false;        // all slots are known: convert, report
};

}  // namespace dj
