// SPDX-License-Identifier: Apache-2.0
// Binds statements: loops and jumps, foreach with its sort rules, delete.
#include <fmt/format.h>

#include "compiler/check/forms.h"
#include "compiler/check/overload.h"
#include "compiler/check/stat_ops.h"

namespace dj {
namespace {

StmtPtr expr_stmt(Binder& binder, const ast::Expr& e, Span span);

// `c ? f() : g()` as a statement is an if: its branches need no values.
StmtPtr ternary_stmt(Binder& binder, const ast::Ternary& t, Span span) {
  ExprPtr test = bind_condition(binder, *t.condition);
  StmtPtr then = expr_stmt(binder, *t.then, t.then->span);
  return make_stmt(
      If{std::move(test), std::move(then), expr_stmt(binder, *t.otherwise, t.otherwise->span)},
      span);
}

// `c && f()` as a statement is an if, `c || f()` one with an else: f() needs no value.
StmtPtr logical_stmt(Binder& binder, const ast::Binary& b, Span span) {
  ExprPtr test = bind_condition(binder, *b.left);
  StmtPtr right = expr_stmt(binder, *b.right, b.right->span);
  if (b.op == ast::BinOp::LogAnd) {
    return make_stmt(If{std::move(test), std::move(right), nullptr}, span);
  }
  return make_stmt(If{std::move(test), make_stmt(Block{}, span), std::move(right)}, span);
}

StmtPtr expr_stmt(Binder& binder, const ast::Expr& e, Span span) {
  if (const ast::Ternary* choice = std::get_if<ast::Ternary>(&e.node)) {
    return ternary_stmt(binder, *choice, span);
  }
  const ast::Binary* both = std::get_if<ast::Binary>(&e.node);
  if (both != nullptr && (both->op == ast::BinOp::LogAnd || both->op == ast::BinOp::LogOr)) {
    return logical_stmt(binder, *both, span);
  }
  const ast::Assign* add = std::get_if<ast::Assign>(&e.node);
  if (add == nullptr || !add->stat_add) return make_stmt(ExprStmt{binder.expr(e)}, span);
  ExprPtr where = bind_place(binder, *add->left);
  ExprPtr value = binder.expr(*add->right);
  if (where && std::holds_alternative<LocalRef>(where->node)) {
    const std::string& spelled = std::get<ast::Name>(add->left->node).name;
    Diag& diag = binder.diags.error(
        "DJ2016", add->left->span,
        fmt::format("`{}` is a local variable, but aggregates are global", spelled));
    diag.help = fmt::format("declare it: global {}", spelled);
    where = nullptr;
  }
  if (!where) return make_stmt(ExprStmt{poison(span)}, span);
  return make_stmt(StatAdd{std::move(where), std::move(value)}, span);
}

StmtPtr bind_jump(Binder& binder, const ast::Stmt& s, std::string_view word) {
  if (binder.scope.loops == 0)
    binder.diags.error("DJ2005", s.span, fmt::format("`{}` outside of a loop", word));
  return word == "break" ? make_stmt(Break{}, s.span) : make_stmt(Continue{}, s.span);
}

StmtPtr bind_return(Binder& binder, const ast::Return& r, Span span) {
  if (!binder.is_function()) {
    Diag& diag = binder.diags.error("DJ2004", span, "`return` outside of a function");
    diag.help = "`next` ends a probe's handler";
  }
  ExprPtr value = r.value ? binder.expr(*r.value) : nullptr;
  if (value && !binder.inlined.empty()) {
    ExprPtr result = make(LocalRef{binder.inlined.back().result}, span);
    ExprPtr set = make(Assign{std::nullopt, std::move(result), std::move(value)}, span);
    Block block;
    block.body.push_back(make_stmt(ExprStmt{std::move(set)}, span));
    block.body.push_back(make_stmt(Return{}, span));
    return make_stmt(std::move(block), span);
  }
  return make_stmt(Return{std::move(value)}, span);
}

StmtPtr bind_try(Binder& binder, const ast::Try& t, Span span) {
  StmtPtr body = binder.stmt(*t.body);
  Block handler;
  if (!t.error.empty()) {
    Span place = t.error_span;
    const std::optional<GlobalId> global = binder.global(t.error);
    ExprPtr variable =
        global ? make(GlobalRef{*global}, place) : make(LocalRef{binder.local(t.error)}, place);
    ExprPtr set = make(Assign{std::nullopt, std::move(variable), make(Caught{}, place)}, place);
    handler.body.push_back(make_stmt(ExprStmt{std::move(set)}, place));
  }
  handler.body.push_back(binder.stmt(*t.handler));
  return make_stmt(Try{std::move(body), make_stmt(std::move(handler), t.handler->span)}, span);
}

StmtPtr bind_for(Binder& binder, const ast::For& f, Span span) {
  Block block;
  if (f.init) block.body.push_back(make_stmt(ExprStmt{binder.expr(*f.init)}, f.init->span));
  ExprPtr test = f.condition ? bind_condition(binder, *f.condition) : nullptr;
  ExprPtr step = f.step ? binder.expr(*f.step) : nullptr;
  StmtPtr loop =
      make_stmt(Loop{std::move(test), std::move(step), loop_body(binder, *f.body)}, span);
  if (block.body.empty()) return loop;
  block.body.push_back(std::move(loop));
  return make_stmt(std::move(block), span);
}

void foreach_sort(Binder& binder, const ast::Foreach& f, Foreach& out) {
  std::optional<Span> first;
  auto claim = [&](Span span) {
    if (first) {
      Diag& diag = binder.diags.error("DJ2025", span, "a foreach can sort by one thing only");
      diag.labels.push_back({*first, "sorted by this already"});
      return false;
    }
    first = span;
    return true;
  };
  bool aggregate = binder.program.globals[out.array].value == Type::Stat;
  if (f.value && f.value->sort != 0 && claim(f.value->span)) {
    out.sort = Foreach::Sort::Value;
    out.descending = f.value->sort < 0;
  }
  for (size_t i = 0; i < f.keys.size(); ++i) {
    if (f.keys[i].sort == 0 || !claim(f.keys[i].span)) continue;
    out.sort = Foreach::Sort::Key;
    out.sort_key = static_cast<uint32_t>(i);
    out.descending = f.keys[i].sort < 0;
  }
  if (f.array_sort != 0 && claim(f.array_span)) {
    out.sort = Foreach::Sort::Value;
    out.descending = f.array_sort < 0;
  }
  // An aggregate has no value to sort by; its count stands for it.
  if (aggregate && out.sort == Foreach::Sort::Value) out.sort = Foreach::Sort::Stat;
  if (f.array_op.empty()) return;
  std::optional<StatOp> op = stat_op(f.array_op);
  if (!op) {
    Diag& diag = binder.diags.error("DJ2008", f.array_op_span,
                                    fmt::format("cannot sort by `@{}`", f.array_op));
    diag.help =
        "an array of aggregates is sorted by @count, @sum, @min, @max, @avg, @variance or @p50 ... "
        "@p999";
    return;
  }
  if (!aggregate) {
    Diag& diag = binder.diags.error("DJ2104", f.array_span,
                                    fmt::format("`{}` does not hold aggregates", f.array));
    diag.help =
        fmt::format("write {}{} to sort by the value", f.array, f.array_sort < 0 ? "-" : "+");
    return;
  }
  out.sort_stat = *op;
  want_stat(binder, out.array, *op);
}

std::vector<ExprPtr> loop_slice(Binder& binder, const ast::Foreach& f) {
  std::vector<ExprPtr> slice = binder.exprs(f.slice);
  return find_array(binder, f.array, f.array_span, slice.size()) ? std::move(slice)
                                                                 : std::vector<ExprPtr>();
}

StmtPtr bind_foreach(Binder& binder, const ast::Foreach& f, Span span) {
  if (f.histogram) return bind_bucket_loop(binder, f, span);
  std::optional<GlobalId> found = find_array(binder, f.array, f.array_span, f.keys.size());
  std::vector<StmtPtr> prologue;
  Foreach loop;
  for (const ast::LoopKey& key : f.keys) loop.keys.push_back(loop_variable(binder, key, prologue));
  if (f.value) loop.value = loop_variable(binder, *f.value, prologue);
  if (found) {
    loop.array = *found;
    foreach_sort(binder, f, loop);
    if (f.value && binder.program.globals[*found].value == Type::Stat) {
      Diag& diag = binder.diags.error(
          "DJ2103", f.value->span,
          fmt::format("the elements of `{}` are aggregates, which no variable can hold", f.array));
      diag.help = fmt::format("ask them by their keys: @count({}[...])", f.array);
      found = std::nullopt;
    }
  }
  if (found && !f.slice.empty()) loop.slice = loop_slice(binder, f);
  if (f.limit) loop.limit = binder.expr(*f.limit);
  loop.body = loop_body(binder, *f.body);
  if (!found) return std::move(loop.body);
  if (!prologue.empty()) {
    Span body_span = loop.body->span;
    prologue.push_back(std::move(loop.body));
    loop.body = make_stmt(Block{std::move(prologue)}, body_span);
  }
  StmtPtr bound = make_stmt(std::move(loop), span);
  std::vector<Span>& spans = binder.notes.loop_spans[&std::get<Foreach>(bound->node)];
  for (const ast::LoopKey& key : f.keys) spans.push_back(key.span);
  if (f.value) spans.push_back(f.value->span);
  return bound;
}

StmtPtr bind_delete(Binder& binder, const ast::Delete& d, Span span) {
  if (const ast::Name* whole = std::get_if<ast::Name>(&d.what->node)) {
    if (const std::optional<GlobalId> global = binder.global(whole->name))
      return make_stmt(DeleteGlobal{*global}, span);
    // Nobody ever sets the other variable, so it is 0 or "".
    ExprPtr nothing = make(LocalRef{binder.hidden_local("nothing")}, d.what->span);
    ExprPtr where = make(LocalRef{binder.local(whole->name)}, d.what->span);
    ExprPtr reset = make(Assign{std::nullopt, std::move(where), std::move(nothing)}, span);
    return make_stmt(ExprStmt{std::move(reset)}, span);
  }
  ExprPtr found = bind_element(binder, std::get<ast::Index>(d.what->node), d.what->span, true);
  if (!std::holds_alternative<ElementRef>(found->node)) {
    return make_stmt(ExprStmt{std::move(found)}, span);
  }
  return make_stmt(DeleteElement{std::move(found)}, span);
}

}  // namespace

StmtPtr Binder::stmt(const ast::Stmt& s) {
  return std::visit(
      Overload{
          [&](const ast::Block& b) { return bind_block(*this, b, s.span); },
          [&](const ast::Empty&) { return make_stmt(Block{}, s.span); },
          [&](const ast::ExprStmt& x) { return expr_stmt(*this, *x.expr, s.span); },
          [&](const ast::If& i) {
            ExprPtr test = bind_condition(*this, *i.condition);
            StmtPtr then = stmt(*i.then);
            StmtPtr otherwise = i.otherwise ? stmt(*i.otherwise) : nullptr;
            return make_stmt(If{std::move(test), std::move(then), std::move(otherwise)}, s.span);
          },
          [&](const ast::While& w) {
            ExprPtr test = bind_condition(*this, *w.condition);
            return make_stmt(Loop{std::move(test), nullptr, loop_body(*this, *w.body)}, s.span);
          },
          [&](const ast::For& f) { return bind_for(*this, f, s.span); },
          [&](const ast::Foreach& f) { return bind_foreach(*this, f, s.span); },
          [&](const ast::Break&) { return bind_jump(*this, s, "break"); },
          [&](const ast::Continue&) { return bind_jump(*this, s, "continue"); },
          [&](const ast::Next&) { return bind_next(*this, s.span); },
          [&](const ast::Return& r) { return bind_return(*this, r, s.span); },
          [&](const ast::Delete& d) { return bind_delete(*this, d, s.span); },
          [&](const ast::Try& t) { return bind_try(*this, t, s.span); },
      },
      s.node);
}

ExprPtr bind_condition(Binder& binder, const ast::Expr& e) {
  const ast::Assign* assigned = std::get_if<ast::Assign>(&e.node);
  if (assigned != nullptr && !assigned->op && !assigned->stat_add) {
    Diag& diag = binder.diags.warning("DJ2901", e.span, "this condition is an assignment");
    diag.help = "write `==` to compare";
    diag.fixes.push_back({assigned->op_span, "=="});
  }
  return binder.expr(e);
}

StmtPtr loop_body(Binder& binder, const ast::Stmt& s) {
  ++binder.scope.loops;
  StmtPtr bound = binder.stmt(s);
  --binder.scope.loops;
  return bound;
}

// A loop variable that is a global's name sets that global, as in SystemTap: the loop gets a hidden
// local and its body starts with the assignment.
LocalId loop_variable(Binder& binder, const ast::LoopKey& key, std::vector<StmtPtr>& prologue) {
  const std::optional<GlobalId> global = binder.global(key.name);
  if (!global) return binder.local(key.name);
  if (binder.is_array(*global)) {
    report_shape(binder, *global, key.span,
                 fmt::format("the loop variable `{}` is an array", key.name));
    return binder.local(key.name);
  }
  const LocalId hidden = binder.hidden_local(key.name);
  ExprPtr copy = make(
      Assign{std::nullopt, make(GlobalRef{*global}, key.span), make(LocalRef{hidden}, key.span)},
      key.span);
  prologue.push_back(make_stmt(ExprStmt{std::move(copy)}, key.span));
  return hidden;
}

}  // namespace dj
