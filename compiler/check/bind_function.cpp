// SPDX-License-Identifier: Apache-2.0
// Functions with several bodies: `next` hands the call, with the arguments as they came, to the
// following one.
#include <algorithm>

#include "compiler/check/forms.h"
#include "stdlib/builtins.h"

namespace dj {

StmtPtr function_body(Binder& binder, const ast::Stmt& s, FunctionId id, LocalId first_parameter) {
  const FunctionFacts& facts = binder.notes.facts.functions[id];
  binder.scope.next = facts.next;
  if (!facts.has_next || !binder.scope.next) return binder.stmt(s);
  Block block;
  for (uint32_t i = 0; i < binder.program.functions[id].param_count; ++i) {
    const LocalId param = first_parameter + i;
    const LocalId kept = binder.hidden_local(binder.frame.locals[param].name);
    ExprPtr copy = make(
        Assign{std::nullopt, make(LocalRef{kept}, s.span), make(LocalRef{param}, s.span)}, s.span);
    block.body.push_back(make_stmt(ExprStmt{std::move(copy)}, s.span));
    binder.scope.arguments.push_back(kept);
  }
  block.body.push_back(binder.stmt(s));
  return make_stmt(std::move(block), s.span);
}

StmtPtr bind_next(Binder& binder, Span span) {
  if (!binder.is_function()) return make_stmt(Next{}, span);
  if (!binder.scope.next) {
    const std::vector<Builtin>& rows = builtins();
    auto error = std::find_if(rows.begin(), rows.end(),
                              [](const Builtin& row) { return row.name == "error"; });
    std::vector<ExprPtr> text;
    text.push_back(make(StrLit{"all functions exhausted"}, span, Type::Str));
    CallBuiltin raise{static_cast<BuiltinId>(error - rows.begin()), std::move(text)};
    return make_stmt(ExprStmt{make(std::move(raise), span, Type::Void)}, span);
  }
  std::vector<ExprPtr> args;
  for (LocalId kept : binder.scope.arguments) args.push_back(make(LocalRef{kept}, span));
  Type result = binder.program.functions[*binder.scope.next].result;
  ExprPtr call;
  if (binder.inlined.empty()) {
    pass_registers(binder, binder.program.functions[*binder.scope.next].name, span, args);
    call = make(CallFunction{*binder.scope.next, std::move(args)}, span, result);
    if (result != Type::Void) return make_stmt(Return{std::move(call)}, span);
  } else {
    call = bind_inlined(binder, *binder.scope.next, std::move(args), span);
    ExprPtr place = make(LocalRef{binder.inlined.back().result}, span);
    if (result != Type::Void)
      call = make(Assign{std::nullopt, std::move(place), std::move(call)}, span);
  }
  Block block;
  block.body.push_back(make_stmt(ExprStmt{std::move(call)}, span));
  block.body.push_back(make_stmt(Return{}, span));
  return make_stmt(std::move(block), span);
}

}  // namespace dj
