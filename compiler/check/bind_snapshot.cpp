// SPDX-License-Identifier: Apache-2.0
// snapshot(place): what was in a global or an element, which is empty from here on. Whatever
// handlers add meanwhile is in the snapshot or in what comes after, never lost. snapshot(a) { ...
// }: inside of the block `a` is the snapshot.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/check/forms.h"
#include "compiler/check/uses.h"

namespace dj {
namespace {

constexpr const char* kForms =
    "snapshot(n) is the value of a global or an element; snapshot(a) { ... } is for whole arrays "
    "and aggregates";

const ast::Call* snapshot_call(Binder& binder, const ast::Stmt& s) {
  const auto* alone = std::get_if<ast::ExprStmt>(&s.node);
  const auto* call = alone == nullptr ? nullptr : std::get_if<ast::Call>(&alone->expr->node);
  bool ours = call != nullptr && is_snapshot_name(call->name) &&
              !binder.notes.functions.contains(call->name);
  return ours ? call : nullptr;
}

GlobalId snapshot_copy(Binder& binder, GlobalId from) {
  auto made = std::find_if(binder.notes.snapshots.begin(), binder.notes.snapshots.end(),
                           [from](const auto& pair) { return pair.first == from; });
  if (made != binder.notes.snapshots.end()) return made->second;
  const Global& source = binder.program.globals[from];
  Global copy{.name = source.name + "@snapshot", .span = source.span};
  copy.value = source.value;
  copy.keys = source.keys;
  copy.array.capacity = source.array.capacity;
  copy.asked.hist_linear = source.asked.hist_linear;
  auto id = static_cast<GlobalId>(binder.program.globals.size());
  binder.program.globals.push_back(std::move(copy));
  GlobalFacts facts = binder.notes.facts.globals[from];
  binder.notes.facts.globals.push_back(facts);
  binder.notes.snapshots.emplace_back(from, id);
  return id;
}

StmtPtr snapshot_block(Binder& binder, const ast::Call& c, const ast::Stmt& body, Span span) {
  if (binder.source == nullptr || !is_host(*binder.source)) {
    Diag& diag =
        binder.diags.error("DJ2032", span, "a snapshot block runs in djtap, not in the program");
    diag.help = "put it into a probe of timer, begin or end";
    return make_stmt(Block{}, span);
  }
  const auto* plain = c.args.size() == 1 ? std::get_if<ast::Name>(&c.args[0]->node) : nullptr;
  const std::optional<GlobalId> known = plain ? binder.global(plain->name) : std::nullopt;
  if (!known) {
    Span where = c.args.empty() || !c.args[0] ? span : c.args[0]->span;
    binder.diags.error("DJ2032", where, "a snapshot block takes a global variable").help = kForms;
    return make_stmt(Block{}, span);
  }
  GlobalId from = *known;
  GlobalId to = snapshot_copy(binder, from);
  binder.notes.globals[plain->name] = to;
  StmtPtr inside = binder.stmt(body);
  binder.notes.globals[plain->name] = from;
  return make_stmt(Snapshot{from, to, std::move(inside)}, span);
}

}  // namespace

StmtPtr bind_block(Binder& binder, const ast::Block& b, Span span) {
  Block block;
  for (size_t i = 0; i < b.body.size(); ++i) {
    const ast::Call* call = snapshot_call(binder, *b.body[i]);
    const ast::Stmt* next = i + 1 < b.body.size() ? b.body[i + 1].get() : nullptr;
    if (call != nullptr && next != nullptr && std::holds_alternative<ast::Block>(next->node)) {
      block.body.push_back(snapshot_block(binder, *call, *next, b.body[i]->span));
      ++i;
    } else {
      block.body.push_back(binder.stmt(*b.body[i]));
    }
  }
  return make_stmt(std::move(block), span);
}

ExprPtr bind_snapshot(Binder& binder, const ast::Call& c, Span span) {
  if (c.args.size() != 1) {
    binder.exprs(c.args);
    binder.diags.error("DJ2032", span, fmt::format("`{}` takes one variable", c.name)).help =
        kForms;
    return poison(span);
  }
  const ast::Expr& what = *c.args[0];
  const auto* plain = std::get_if<ast::Name>(&what.node);
  const std::optional<GlobalId> known = plain ? binder.global(plain->name) : std::nullopt;
  bool whole =
      known && (binder.is_array(*known) || binder.program.globals[*known].value == Type::Stat);
  if (whole) {
    Diag& diag = binder.diags.error(
        "DJ2032", span, fmt::format("a snapshot of all of `{}` needs a block", plain->name));
    diag.help = fmt::format(
        "write {1}({0}) {{ ... }}; inside, {0} is the snapshot; behind if and loops in braces",
        plain->name, c.name);
    return poison(span);
  }
  bool placed = plain != nullptr || std::holds_alternative<ast::Index>(what.node);
  ExprPtr where = placed ? bind_place(binder, what) : binder.expr(what);
  if (!where || is_poisoned(*where)) return poison(span);
  const auto* element = std::get_if<ElementRef>(&where->node);
  bool stat = element != nullptr && binder.program.globals[element->array].value == Type::Stat;
  if (stat || (element == nullptr && !std::holds_alternative<GlobalRef>(where->node))) {
    binder.diags
        .error("DJ2032", what.span, "only globals and elements of plain arrays have a snapshot")
        .help = plain == nullptr ? kForms : fmt::format("declare it: global {}", plain->name);
    return poison(span);
  }
  return make(Take{std::move(where)}, span);
}

void share_snapshot_shapes(Program& program, const Notes& notes, Diags& diags) {
  auto give = [&](GlobalId from_id, GlobalId to_id) {
    const Global& from = program.globals[from_id];
    Global& to = program.globals[to_id];
    to.asked.hist_log |= from.asked.hist_log;
    to.asked.variance |= from.asked.variance;
    to.asked.percentiles |= from.asked.percentiles;
    if (!from.asked.hist_linear) return;
    const Linear& a = *from.asked.hist_linear;
    if (!to.asked.hist_linear) to.asked.hist_linear = a;
    const Linear& b = *to.asked.hist_linear;
    if (a.start == b.start && a.stop == b.stop && a.step == b.step) return;
    Diag& diag =
        diags.error("DJ2106", *notes.facts.globals[to_id].linear,
                    fmt::format("a snapshot of `{}` has the bounds of its @hist_linear", to.name));
    diag.labels.push_back({*notes.facts.globals[from_id].linear, "other bounds in the snapshot"});
    to.asked.hist_linear = a;  // said once
  };
  for (auto pair = notes.snapshots.rbegin(); pair != notes.snapshots.rend(); ++pair)
    give(pair->second, pair->first);
  for (auto [from, to] : notes.snapshots) give(from, to);
}

}  // namespace dj
