// SPDX-License-Identifier: Apache-2.0
// Functions that read target variables ($name): what these are, the probe knows that calls the
// function. So the function's statements are bound anew in each such probe, as a part of it.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/check/forms.h"
#include "compiler/stages/walk_ast.h"

namespace dj {
namespace {

constexpr size_t kMaxInlined = 1000;  // calls of one probe, those of the functions too

// What the functions of one name call, and whether they read target variables themselves.
struct OfName {
  std::unordered_set<std::string> calls;
  bool reads = false;

  void operator()(const ast::Expr& e) {
    if (const auto* call = std::get_if<ast::Call>(&e.node)) calls.insert(call->name);
    reads = reads || std::holds_alternative<ast::Target>(e.node);
    ast::for_each_child(e, *this);
  }
  void operator()(const ast::Stmt& s) { ast::for_each_child(s, *this); }
};

bool may_inline(Binder& binder, FunctionId id, Span span) {
  if (binder.notes.wrong.contains(id)) return false;
  const std::string& name = binder.program.functions[id].name;
  const bool inside = std::any_of(binder.inlined.begin(), binder.inlined.end(),
                                  [&](const Inlined& outer) { return outer.function == id; });
  if (inside) {
    binder.diags
        .error("DJ2012", span,
               fmt::format("`{}` reads target variables, and cannot call itself", name))
        .help = "read them in the probe and pass them as arguments";
  } else if (++binder.inlined_calls > kMaxInlined) {
    binder.diags.error(
        "DJ2012", span,
        fmt::format("more than {} calls of functions that read target variables", kMaxInlined));
  } else {
    return true;
  }
  binder.notes.wrong.insert(id);
  return false;
}

// Its locals that are known before its statements are.
Inlined begin_inlined(Binder& binder, FunctionId id) {
  Inlined call{.function = id, .body = nullptr};
  const Function& function = binder.program.functions[id];
  call.first = static_cast<LocalId>(binder.frame.locals.size());
  for (uint32_t i = 0; i < function.param_count; ++i)
    binder.add_local(function.frame.locals[i].name);
  call.result = binder.hidden_local(function.name + "()");
  call.end = static_cast<LocalId>(binder.frame.locals.size());
  return call;
}

}  // namespace

std::unordered_set<std::string> functions_of_probes(const ast::Script& script) {
  std::unordered_map<std::string, OfName> bodies;
  for (const ast::FunctionDecl& decl : script.functions) bodies[decl.name](*decl.body);
  std::unordered_set<std::string> found;
  for (bool grown = true; grown;) {
    grown = false;
    for (const auto& [name, body] : bodies) {
      const bool calls_one =
          std::any_of(body.calls.begin(), body.calls.end(),
                      [&](const auto& callee) { return found.contains(callee); });
      if (body.reads || calls_one) grown = found.insert(name).second || grown;
    }
  }
  return found;
}

ExprPtr bind_inlined(Binder& binder, FunctionId id, std::vector<ExprPtr> args, Span span) {
  if (!may_inline(binder, id, span)) return poison(span);
  const PointerTypes pointers(*binder.notes.bodies[id], *binder.notes.script_names);
  // The function's own names, loops and `next`; the probe's come again behind it.
  BodyScope outer = std::exchange(binder.scope, BodyScope{.pointers = &pointers});
  const size_t errors = binder.diags.error_count();
  binder.inlined.push_back(begin_inlined(binder, id));
  const LocalId first = binder.inlined.back().first;
  Block block;
  for (LocalId i = 0; i < args.size(); ++i) {
    const Span place = args[i]->span;
    ExprPtr set =
        make(Assign{std::nullopt, make(LocalRef{first + i}, place), std::move(args[i])}, place);
    block.body.push_back(make_stmt(ExprStmt{std::move(set)}, place));
  }
  block.body.push_back(function_body(binder, *binder.notes.bodies[id], id, first));
  Inlined call = std::move(binder.inlined.back());
  binder.inlined.pop_back();
  call.end = static_cast<LocalId>(binder.frame.locals.size());
  call.body = make_stmt(std::move(block), span);
  binder.scope = std::move(outer);
  if (binder.diags.error_count() != errors) {
    binder.notes.wrong.insert(id);
    if (binder.diags.last().severity == Severity::Error)
      binder.diags.last().labels.push_back({span, "called here"});
  }
  return make(std::move(call), span, binder.program.functions[id].result);
}

}  // namespace dj
