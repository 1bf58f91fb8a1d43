// SPDX-License-Identifier: Apache-2.0
// { body } becomes { began = get_cycles(); body; began = get_cycles() - began; times <<< began }.
#include "compiler/check/time_probes.h"

#include <memory>
#include <utility>

#include "compiler/base/result.h"
#include "compiler/stages/walk.h"
#include "stdlib/builtins.h"

namespace dj {
namespace {

BuiltinId builtin_named(std::string_view name) {
  const std::vector<Builtin>& rows = builtins();
  for (BuiltinId id = 0; id < rows.size(); ++id) {
    if (rows[id].name == name) return id;
  }
  CHECK(false);
  return 0;
}

template <typename Node>
ExprPtr make_expr(Type type, Span span, Node node) {
  auto expr = std::make_unique<Expr>();
  expr->type = type;
  expr->span = span;
  expr->node = std::move(node);
  return expr;
}

template <typename Node>
StmtPtr make_stmt(Span span, Node node) {
  auto stmt = std::make_unique<Stmt>();
  stmt->span = span;
  stmt->node = std::move(node);
  return stmt;
}

// One probe while its body is changed.
struct Timed {
  Span span;
  LocalId began;
  GlobalId times;
  std::optional<GlobalId> by_process;

  ExprPtr call(std::string_view builtin) const {
    return make_expr(Type::Int, span, CallBuiltin{builtin_named(builtin), {}});
  }
  ExprPtr local() const { return make_expr(Type::Int, span, LocalRef{began}); }
  StmtPtr set(ExprPtr value) const {
    Assign assign{std::nullopt, local(), std::move(value)};
    return make_stmt(span, ExprStmt{make_expr(Type::Int, span, std::move(assign))});
  }
  template <typename Place>
  StmtPtr add_to(Place place) const {
    return make_stmt(span, StatAdd{make_expr(Type::Stat, span, std::move(place)), local()});
  }
  StmtPtr start() const { return set(call("get_cycles")); }
  void stop(Block& block) const {
    block.body.push_back(
        set(make_expr(Type::Int, span, Binary{ast::BinOp::Sub, call("get_cycles"), local()})));
    block.body.push_back(add_to(GlobalRef{times}));
    if (!by_process) return;
    ElementRef element{*by_process, {}};
    element.keys.push_back(call("pid"));
    block.body.push_back(add_to(std::move(element)));
  }
  void operator()(Expr&) const {}
  // A `next` is one more end.
  void operator()(Stmt& stmt) const {
    if (!std::holds_alternative<Next>(stmt.node)) return for_each_child(stmt, *this);
    Block block;
    stop(block);
    block.body.push_back(make_stmt(stmt.span, Next{}));
    stmt.node = std::move(block);
  }
};

// One more global, which no report shows.
GlobalId hide(Program& program, Span span, Type value, Storage storage) {
  Global global;
  global.name = "-t";
  global.span = span;
  global.value = value;
  global.storage = storage;
  global.by = Global::By::Djtap;
  global.ever_read = global.ever_written = true;
  program.globals.push_back(std::move(global));
  return static_cast<GlobalId>(program.globals.size() - 1);
}

GlobalId add_process_times(Program& program, Span span) {
  const GlobalId id = hide(program, span, Type::Stat, Storage::Array);
  Global& global = program.globals[id];
  global.keys = {Type::Int};
  global.array.capacity = kMostTimedProcesses;
  global.array.wrap = true;
  return id;
}

}  // namespace

TimedProbes time_probes(Program& program, bool by_process) {
  TimedProbes all;
  if (by_process && !program.probes.empty())
    all.by_process = add_process_times(program, program.probes.front().span);
  for (Probe& probe : program.probes) {
    const GlobalId times = hide(program, probe.span, Type::Stat, Storage::Stats);
    probe.hits = hide(program, probe.span, Type::Int, Storage::Counter);
    all.times.push_back(times);

    Timed timed{probe.span, static_cast<LocalId>(probe.frame.locals.size()), times, all.by_process};
    probe.frame.locals.push_back({"-t", Type::Int});
    Block block;
    block.body.push_back(timed.start());
    if (probe.body) {
      timed(*probe.body);
      block.body.push_back(std::move(probe.body));
    }
    timed.stop(block);
    probe.body = make_stmt(probe.span, std::move(block));
    probe.empty = false;
  }
  return all;
}

}  // namespace dj
