// SPDX-License-Identifier: Apache-2.0
// { body } becomes { began = get_cycles(); body; times <<< get_cycles() - began }.
#include "compiler/check/time_probes.h"

#include <memory>
#include <utility>

#include "compiler/base/result.h"
#include "compiler/stages/walk.h"
#include "stdlib/builtins.h"

namespace dj {
namespace {

BuiltinId cycles_builtin() {
  const std::vector<Builtin>& rows = builtins();
  for (BuiltinId id = 0; id < rows.size(); ++id) {
    if (rows[id].name == "get_cycles") return id;
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
  BuiltinId cycles;

  ExprPtr now() const { return make_expr(Type::Int, span, CallBuiltin{cycles, {}}); }
  StmtPtr start() const {
    ExprPtr place = make_expr(Type::Int, span, LocalRef{began});
    return make_stmt(
        span, ExprStmt{make_expr(Type::Int, span, Assign{std::nullopt, std::move(place), now()})});
  }
  StmtPtr stop() const {
    ExprPtr passed =
        make_expr(Type::Int, span,
                  Binary{ast::BinOp::Sub, now(), make_expr(Type::Int, span, LocalRef{began})});
    return make_stmt(span,
                     StatAdd{make_expr(Type::Stat, span, GlobalRef{times}), std::move(passed)});
  }
  void operator()(Expr&) const {}
  // A `next` is one more end.
  void operator()(Stmt& stmt) const {
    if (!std::holds_alternative<Next>(stmt.node)) return for_each_child(stmt, *this);
    Block block;
    block.body.push_back(stop());
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
  global.ever_read = global.ever_written = true;
  program.globals.push_back(std::move(global));
  return static_cast<GlobalId>(program.globals.size() - 1);
}

}  // namespace

std::vector<GlobalId> time_probes(Program& program) {
  std::vector<GlobalId> ids;
  BuiltinId cycles = cycles_builtin();
  for (Probe& probe : program.probes) {
    const GlobalId times = hide(program, probe.span, Type::Stat, Storage::Stats);
    probe.hits = hide(program, probe.span, Type::Int, Storage::Counter);
    ids.push_back(times);

    Timed timed{probe.span, static_cast<LocalId>(probe.frame.locals.size()), times, cycles};
    probe.frame.locals.push_back({"-t", Type::Int});
    Block block;
    block.body.push_back(timed.start());
    if (probe.body) {
      timed(*probe.body);
      block.body.push_back(std::move(probe.body));
    }
    block.body.push_back(timed.stop());
    probe.body = make_stmt(probe.span, std::move(block));
    probe.empty = false;
  }
  return ids;
}

}  // namespace dj
