// SPDX-License-Identifier: Apache-2.0
// The walk that finds every use of a name. It knows which values are discarded; it resolves
// nothing.
#include "compiler/check/uses.h"

#include <algorithm>
#include <set>

#include "compiler/check/overload.h"
#include "compiler/check/stat_ops.h"
#include "compiler/stages/samples.h"

namespace dj {
namespace {

struct Scanner {
  Uses& uses;
  uint32_t unit = 0;
  std::set<std::string> params;
  uint32_t loops = 0;  // around the current place

  void note(const std::string& name, Span span, Use use, size_t keys, bool additive = false) {
    if (!params.contains(name)) {
      uses.names[name].push_back(
          {unit, use, static_cast<uint32_t>(keys), additive, loops > 0, false, span});
    }
  }

  void name(const ast::Name& n, Span span, bool alone) {
    note(n.name, span, Use::Read, 0);
    if (!params.contains(n.name)) uses.names[n.name].back().alone = alone;
  }

  void exprs(const std::vector<ast::ExprPtr>& list) {
    for (const ast::ExprPtr& each : list) {
      if (each) expr(*each);
    }
  }

  // A name or an element that is written; anything else is read (and refused when it is bound).
  void place(const ast::Expr& e, Use use, bool additive = false) {
    if (const ast::Name* name = std::get_if<ast::Name>(&e.node)) {
      note(name->name, e.span, use, 0, additive);
    } else if (const ast::Index* index = std::get_if<ast::Index>(&e.node)) {
      exprs(index->keys);
      note(index->name, e.span, use, index->keys.size(), additive);
    } else {
      expr(e);
    }
  }

  void assign(const ast::Assign& a, bool discarded) {
    expr(*a.right);
    if (a.stat_add) {
      place(*a.left, Use::StatAdd);
    } else if (!a.op) {
      place(*a.left, Use::Set);
      // `x = y = 0` also hands the value on, but that is the value of the right side: no read of y.
    } else {
      bool additive = *a.op == ast::BinOp::Add || *a.op == ast::BinOp::Sub;
      place(*a.left, discarded ? Use::Update : Use::UpdateRead, additive);
    }
  }

  void at(const ast::At& a) {
    if (a.op == "defined") return;  // never evaluated
    size_t first = 0;
    if (!a.args.empty() && (stat_op(a.op) || is_histogram(a.op))) {
      place(*a.args[0], Use::StatRead);
      first = 1;
    }
    for (size_t i = first; i < a.args.size(); ++i) expr(*a.args[i]);
  }

  void expr(const ast::Expr& e, bool discarded = false) {
    std::visit(Overload{
                   [](const ast::Number&) {},
                   [](const ast::Fraction&) {},
                   [](const ast::String&) {},
                   [&](const ast::Name& n) { name(n, e.span, discarded); },
                   [&](const ast::Index&) { place(e, Use::Read); },
                   [&](const ast::Call& c) {
                     uses.units[unit].calls.push_back(c.name);
                     exprs(c.args);
                     if (is_snapshot_name(c.name) && !c.args.empty())
                       place(*c.args[0], Use::Delete);
                   },
                   [&](const ast::Target& t) {
                     for (const ast::Access& access : t.path) {
                       if (access.index) expr(*access.index);
                     }
                   },
                   [&](const ast::At& a) { at(a); },
                   [&](const ast::Unary& u) { expr(*u.operand); },
                   [&](const ast::Binary& b) {
                     expr(*b.left);
                     expr(*b.right);
                   },
                   [&](const ast::Ternary& t) {
                     expr(*t.condition);
                     expr(*t.then, discarded);
                     expr(*t.otherwise, discarded);
                   },
                   [&](const ast::Assign& a) { assign(a, discarded); },
                   [&](const ast::Crement& c) {
                     place(*c.operand, discarded ? Use::Update : Use::UpdateRead, true);
                   },
                   [&](const ast::In& i) {
                     exprs(i.keys);
                     if (i.histogram) {
                       expr(*i.histogram);
                     } else {
                       note(i.array, i.array_span, Use::Read, i.keys.size());
                     }
                   },
                   [&](const ast::Member& m) {
                     expr(*m.base);
                     for (const ast::Access& access : m.path) {
                       if (access.index) expr(*access.index);
                     }
                   },
                   [&](const ast::Match& m) { expr(*m.text); },
               },
               e.node);
  }

  void foreach_loop(const ast::Foreach& f) {
    if (f.histogram) {
      expr(*f.histogram);
    } else {
      note(f.array, f.array_span, Use::Read, f.keys.size());
    }
    for (const ast::LoopKey& key : f.keys) note(key.name, key.span, Use::Bind, 0);
    if (f.value) note(f.value->name, f.value->span, Use::Bind, 0);
    exprs(f.slice);
    if (f.limit) expr(*f.limit);
    ++loops;
    stmt(*f.body);
    --loops;
  }

  void stmt(const ast::Stmt& s) {
    std::visit(Overload{
                   [&](const ast::Block& b) {
                     for (const ast::StmtPtr& each : b.body) stmt(*each);
                   },
                   [](const ast::Empty&) {},
                   [&](const ast::ExprStmt& x) { expr(*x.expr, true); },
                   [&](const ast::If& i) {
                     expr(*i.condition);
                     stmt(*i.then);
                     if (i.otherwise) stmt(*i.otherwise);
                   },
                   [&](const ast::While& w) {
                     ++loops;
                     expr(*w.condition);
                     stmt(*w.body);
                     --loops;
                   },
                   [&](const ast::For& f) {
                     if (f.init) expr(*f.init, true);
                     ++loops;
                     if (f.condition) expr(*f.condition);
                     if (f.step) expr(*f.step, true);
                     stmt(*f.body);
                     --loops;
                   },
                   [&](const ast::Foreach& f) { foreach_loop(f); },
                   [](const ast::Break&) {},
                   [](const ast::Continue&) {},
                   [](const ast::Next&) {},
                   [&](const ast::Return& r) {
                     if (r.value) expr(*r.value);
                   },
                   [&](const ast::Delete& d) { place(*d.what, Use::Delete); },
                   [&](const ast::Try& t) {
                     stmt(*t.body);
                     if (!t.error.empty()) note(t.error, t.error_span, Use::Bind, 0);
                     stmt(*t.handler);
                   },
               },
               s.node);
  }
};

}  // namespace

bool is_return_point(const ast::ProbePoint& point) {
  return std::any_of(point.components.begin(), point.components.end(),
                     [](const ast::Component& component) { return component.name == "return"; });
}

bool is_host(const ast::ProbePoint& point) {
  const std::string& first = point.components.front().name;
  if (is_profile(point)) return false;  // in threads of the target
  for (const char* host : {"begin", "end", "error", "never", "oneshot", "timer", "input"}) {
    if (first == host) return true;
  }
  if (first != "process" || point.components.size() != 2) return false;
  return point.components[1].name == "begin" || point.components[1].name == "end";
}

bool is_host(const ast::Probe& probe) {
  return std::all_of(probe.points.begin(), probe.points.end(),
                     [](const ast::ProbePoint& point) { return is_host(point); });
}

Uses find_uses(const ast::Script& script) {
  Uses uses;
  Scanner scanner{uses};
  for (const ast::FunctionDecl& function : script.functions) {
    scanner.unit = static_cast<uint32_t>(uses.units.size());
    uses.units.push_back({true, false, {}});
    scanner.params.clear();
    for (const ast::Param& param : function.params) scanner.params.insert(param.name);
    scanner.stmt(*function.body);
  }
  scanner.params.clear();
  for (const ast::Probe& probe : script.probes) {
    scanner.unit = static_cast<uint32_t>(uses.units.size());
    uses.units.push_back({false, is_host(probe), {}});
    for (const ast::ProbePoint& point : probe.points) {
      if (point.condition) scanner.expr(*point.condition);
    }
    scanner.stmt(*probe.body);
  }
  for (auto& [name, list] : uses.names) {
    std::stable_sort(list.begin(), list.end(), [](const NameUse& a, const NameUse& b) {
      return std::pair(a.span.file, a.span.begin) < std::pair(b.span.file, b.span.begin);
    });
  }
  return uses;
}

}  // namespace dj
