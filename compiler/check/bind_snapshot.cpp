// snapshot(place): what was in a global or an element, which is empty from here on. Whatever
// handlers add meanwhile is in the snapshot or in what comes after, never lost. snapshot(a) { ...
// }: inside of the block `a` is the snapshot.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/check/bind.h"

namespace dj {
namespace {

constexpr const char* kForms =
    "snapshot(n) is the value of a global or an element; snapshot(a) { ... } is for whole arrays "
    "and aggregates";

}  // namespace

const ast::Call* Binder::snapshot_call(const ast::Stmt& s) const {
  const auto* alone = std::get_if<ast::ExprStmt>(&s.node);
  const auto* call = alone == nullptr ? nullptr : std::get_if<ast::Call>(&alone->expr->node);
  bool ours =
      call != nullptr && is_snapshot_name(call->name) && !notes_.functions.contains(call->name);
  return ours ? call : nullptr;
}

StmtPtr Binder::block(const ast::Block& b, Span span) {
  Block block;
  for (size_t i = 0; i < b.body.size(); ++i) {
    const ast::Call* call = snapshot_call(*b.body[i]);
    const ast::Stmt* next = i + 1 < b.body.size() ? b.body[i + 1].get() : nullptr;
    if (call != nullptr && next != nullptr && std::holds_alternative<ast::Block>(next->node)) {
      block.body.push_back(snapshot_block(*call, *next, b.body[i]->span));
      ++i;
    } else {
      block.body.push_back(stmt(*b.body[i]));
    }
  }
  return make_stmt(std::move(block), span);
}

ExprPtr Binder::snapshot_value(const ast::Call& c, Span span) {
  if (c.args.size() != 1) {
    exprs(c.args);
    diags_.error("DJ2032", span, fmt::format("`{}` takes one variable", c.name)).help = kForms;
    return poison(span);
  }
  const ast::Expr& what = *c.args[0];
  const auto* plain = std::get_if<ast::Name>(&what.node);
  auto known = plain == nullptr ? notes_.globals.end() : notes_.globals.find(plain->name);
  bool whole = known != notes_.globals.end() && !locals_.contains(plain->name) &&
               (is_array(known->second) || program_.globals[known->second].value == Type::Stat);
  if (whole) {
    Diag& diag = diags_.error("DJ2032", span,
                              fmt::format("a snapshot of all of `{}` needs a block", plain->name));
    diag.help = fmt::format(
        "write {1}({0}) {{ ... }}; inside, {0} is the snapshot; behind if and loops in braces",
        plain->name, c.name);
    return poison(span);
  }
  bool placed = plain != nullptr || std::holds_alternative<ast::Index>(what.node);
  ExprPtr where = placed ? place(what) : expr(what);
  if (!where || is_poisoned(*where)) return poison(span);
  const auto* element = std::get_if<ElementRef>(&where->node);
  bool stat = element != nullptr && program_.globals[element->array].value == Type::Stat;
  if (stat || (element == nullptr && !std::holds_alternative<GlobalRef>(where->node))) {
    diags_.error("DJ2032", what.span, "only globals and elements of plain arrays have a snapshot")
        .help = plain == nullptr ? kForms : fmt::format("declare it: global {}", plain->name);
    return poison(span);
  }
  return make(Take{std::move(where)}, span);
}

GlobalId Binder::snapshot_copy(GlobalId from) {
  auto made = std::find_if(notes_.snapshots.begin(), notes_.snapshots.end(),
                           [from](const auto& pair) { return pair.first == from; });
  if (made != notes_.snapshots.end()) return made->second;
  const Global& source = program_.globals[from];
  Global copy{.name = source.name + "@snapshot", .span = source.span};
  copy.value = source.value;
  copy.keys = source.keys;
  copy.capacity = source.capacity;
  copy.hist_linear = source.hist_linear;
  auto id = static_cast<GlobalId>(program_.globals.size());
  program_.globals.push_back(std::move(copy));
  GlobalFacts facts = notes_.global_facts[from];
  notes_.global_facts.push_back(facts);
  notes_.snapshots.emplace_back(from, id);
  return id;
}

StmtPtr Binder::snapshot_block(const ast::Call& c, const ast::Stmt& body, Span span) {
  if (source_ == nullptr || !is_host(*source_)) {
    Diag& diag = diags_.error("DJ2032", span, "a snapshot block runs in djtap, not in the program");
    diag.help = "put it into a probe of timer, begin or end";
    return make_stmt(Block{}, span);
  }
  const auto* plain = c.args.size() == 1 ? std::get_if<ast::Name>(&c.args[0]->node) : nullptr;
  auto known = plain == nullptr ? notes_.globals.end() : notes_.globals.find(plain->name);
  if (known == notes_.globals.end() || locals_.contains(plain->name)) {
    Span where = c.args.empty() || !c.args[0] ? span : c.args[0]->span;
    diags_.error("DJ2032", where, "a snapshot block takes a global variable").help = kForms;
    return make_stmt(Block{}, span);
  }
  GlobalId from = known->second;
  GlobalId to = snapshot_copy(from);
  notes_.globals[plain->name] = to;
  StmtPtr inside = stmt(body);
  notes_.globals[plain->name] = from;
  return make_stmt(Snapshot{from, to, std::move(inside)}, span);
}

void share_snapshot_shapes(Program& program, const Notes& notes, Diags& diags) {
  auto give = [&](GlobalId from_id, GlobalId to_id) {
    const Global& from = program.globals[from_id];
    Global& to = program.globals[to_id];
    to.hist_log |= from.hist_log;
    to.variance |= from.variance;
    to.percentiles |= from.percentiles;
    if (!from.hist_linear) return;
    const Linear& a = *from.hist_linear;
    if (!to.hist_linear) to.hist_linear = a;
    const Linear& b = *to.hist_linear;
    if (a.start == b.start && a.stop == b.stop && a.step == b.step) return;
    Diag& diag =
        diags.error("DJ2106", *notes.global_facts[to_id].linear,
                    fmt::format("a snapshot of `{}` has the bounds of its @hist_linear", to.name));
    diag.labels.push_back({*notes.global_facts[from_id].linear, "other bounds in the snapshot"});
    to.hist_linear = a;  // said once
  };
  for (auto pair = notes.snapshots.rbegin(); pair != notes.snapshots.rend(); ++pair)
    give(pair->second, pair->first);
  for (auto [from, to] : notes.snapshots) give(from, to);
}

}  // namespace dj
