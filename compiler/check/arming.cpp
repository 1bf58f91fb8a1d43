// SPDX-License-Identifier: Apache-2.0
// Who can write which global, and a probe `armed = condition` for each condition that is djtap's.
#include "compiler/check/arming.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "compiler/check/overload.h"
#include "compiler/check/uses.h"
#include "compiler/stages/walk.h"

namespace dj {
namespace {

std::optional<GlobalId> global_of(const Expr& place) {
  if (const auto* scalar = std::get_if<GlobalRef>(&place.node)) return scalar->global;
  if (const auto* element = std::get_if<ElementRef>(&place.node)) return element->array;
  return std::nullopt;
}

// The globals that a body and the functions it calls may change.
struct Writes {
  const Program& program;
  std::set<GlobalId> written;
  std::set<FunctionId> called;

  void place(const Expr& e) {
    if (const std::optional<GlobalId> global = global_of(e)) written.insert(*global);
  }
  void operator()(const Expr& e) {
    std::visit(Overload{
                   [&](const Assign& a) { place(*a.place); },
                   [&](const Crement& c) { place(*c.place); },
                   [&](const Take& t) { place(*t.place); },
                   [&](const CallFunction& c) {
                     if (called.insert(c.function).second)
                       (*this)(*program.functions[c.function].body);
                   },
                   [](const auto&) {},
               },
               e.node);
    for_each_child(e, *this);
  }
  void operator()(const Stmt& s) {
    std::visit(Overload{
                   [&](const StatAdd& a) { place(*a.place); },
                   [&](const DeleteElement& d) { place(*d.element); },
                   [&](const DeleteGlobal& d) { written.insert(d.global); },
                   [&](const Snapshot& t) { written.insert(t.from); },
                   [](const auto&) {},
               },
               s.node);
    for_each_child(s, *this);
  }
};

struct Reads {
  std::set<GlobalId> read;
  void operator()(const Stmt&) {}
  void operator()(const Expr& e) {
    if (const std::optional<GlobalId> global = global_of(e)) read.insert(*global);
    if (const auto* in = std::get_if<InArray>(&e.node)) read.insert(in->array);
    for_each_child(e, *this);
  }
};

bool runs_in_djtap(const Probe& probe) {
  return std::all_of(probe.points.begin(), probe.points.end(),
                     [](const ast::ProbePoint& point) { return is_host(point); });
}

// probe never { armed = condition }
Probe make_test(ExprPtr condition, GlobalId armed) {
  const Span span = condition->span;
  auto expr = [&](auto node) {
    return std::make_unique<Expr>(Expr{Type::Int, span, std::move(node)});
  };
  Probe test{.span = span};
  test.own = true;
  ast::ProbePoint never;
  never.span = span;
  never.components.emplace_back().name = "never";
  test.points.push_back(std::move(never));
  ExprPtr set = expr(Assign{std::nullopt, expr(GlobalRef{armed}), std::move(condition)});
  test.body = std::make_unique<Stmt>(Stmt{span, ExprStmt{std::move(set)}});
  return test;
}

}  // namespace

std::vector<Arming> add_arming_tests(Program& program) {
  Writes writes{program, {}, {}};
  for (const Probe& probe : program.probes) {
    if (!runs_in_djtap(probe)) writes(*probe.body);
  }
  std::vector<Arming> armings;
  const auto scripts = static_cast<ProbeId>(program.probes.size());
  for (ProbeId id = 0; id < scripts; id++) {
    Probe& probe = program.probes[id];
    if (!probe.condition || runs_in_djtap(probe)) continue;
    Reads reads;
    reads(*probe.condition);
    const bool changed = std::any_of(reads.read.begin(), reads.read.end(),
                                     [&](GlobalId g) { return writes.written.contains(g); });
    if (changed) continue;
    const auto armed = static_cast<GlobalId>(program.globals.size());
    Global& global = program.globals.emplace_back();
    global.name = "armed";
    global.span = probe.span;
    global.by = Global::By::Djtap;
    global.ever_read = global.ever_written = true;
    armings.push_back({id, static_cast<ProbeId>(program.probes.size()), armed});
    program.probes.push_back(make_test(std::move(probe.condition), armed));
  }
  return armings;
}

}  // namespace dj
