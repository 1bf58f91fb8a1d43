// Functions with several bodies: `next` hands the call, with the arguments as they came, to the
// following one.
#include <algorithm>

#include "compiler/check/bind.h"
#include "stdlib/builtins.h"

namespace dj {

StmtPtr Binder::function_body(const ast::Stmt& s, FunctionId id, LocalId first_parameter) {
  const FunctionFacts& facts = notes_.function_facts[id];
  next_ = facts.next;
  if (!facts.has_next || !next_) return stmt(s);
  Block block;
  for (uint32_t i = 0; i < program_.functions[id].param_count; ++i) {
    const LocalId param = first_parameter + i;
    LocalId kept = static_cast<LocalId>(frame_.locals.size());
    frame_.locals.push_back({frame_.locals[param].name, Type::Unknown});
    ExprPtr copy = make(
        Assign{std::nullopt, make(LocalRef{kept}, s.span), make(LocalRef{param}, s.span)}, s.span);
    block.body.push_back(make_stmt(ExprStmt{std::move(copy)}, s.span));
    arguments_.push_back(kept);
  }
  block.body.push_back(stmt(s));
  return make_stmt(std::move(block), s.span);
}

StmtPtr Binder::next_stmt(Span span) {
  if (!is_function()) return make_stmt(Next{}, span);
  if (!next_) {
    const std::vector<Builtin>& rows = builtins();
    auto error = std::find_if(rows.begin(), rows.end(),
                              [](const Builtin& row) { return row.name == "error"; });
    std::vector<ExprPtr> text;
    text.push_back(make(StrLit{"all functions exhausted"}, span, Type::Str));
    CallBuiltin raise{static_cast<BuiltinId>(error - rows.begin()), std::move(text)};
    return make_stmt(ExprStmt{make(std::move(raise), span, Type::Void)}, span);
  }
  std::vector<ExprPtr> args;
  for (LocalId kept : arguments_) args.push_back(make(LocalRef{kept}, span));
  Type result = program_.functions[*next_].result;
  ExprPtr call;
  if (inlined_.empty()) {
    pass_registers(program_.functions[*next_].name, span, args);
    call = make(CallFunction{*next_, std::move(args)}, span, result);
    if (result != Type::Void) return make_stmt(Return{std::move(call)}, span);
  } else {
    call = inlined(*next_, std::move(args), span);
    ExprPtr place = make(LocalRef{inlined_.back().result}, span);
    if (result != Type::Void)
      call = make(Assign{std::nullopt, std::move(place), std::move(call)}, span);
  }
  Block block;
  block.body.push_back(make_stmt(ExprStmt{std::move(call)}, span));
  block.body.push_back(make_stmt(Return{}, span));
  return make_stmt(std::move(block), span);
}

}  // namespace dj
