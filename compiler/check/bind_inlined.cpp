// Functions that read target variables ($name): what these are, the probe knows that calls the
// function. So the function's statements are bound anew in each such probe, as a part of it.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/check/bind.h"
#include "compiler/walk_ast.h"

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

bool Binder::may_inline(FunctionId id, Span span) {
  if (notes_.wrong.contains(id)) return false;
  const std::string& name = program_.functions[id].name;
  const bool inside = std::any_of(inlined_.begin(), inlined_.end(),
                                  [&](const Inlined& outer) { return outer.function == id; });
  if (inside) {
    diags_
        .error("DJ2012", span,
               fmt::format("`{}` reads target variables, and cannot call itself", name))
        .help = "read them in the probe and pass them as arguments";
  } else if (++inlined_calls_ > kMaxInlined) {
    diags_.error(
        "DJ2012", span,
        fmt::format("more than {} calls of functions that read target variables", kMaxInlined));
  } else {
    return true;
  }
  notes_.wrong.insert(id);
  return false;
}

// Its locals that are known before its statements are.
Inlined Binder::begin_inlined(FunctionId id) {
  Inlined call{.function = id, .body = nullptr};
  const Function& function = program_.functions[id];
  call.first = static_cast<LocalId>(frame_.locals.size());
  for (uint32_t i = 0; i < function.param_count; ++i) add_local(function.frame.locals[i].name);
  call.result = static_cast<LocalId>(frame_.locals.size());
  frame_.locals.push_back({function.name + "()", Type::Unknown});
  call.end = static_cast<LocalId>(frame_.locals.size());
  return call;
}

ExprPtr Binder::inlined(FunctionId id, std::vector<ExprPtr> args, Span span) {
  if (!may_inline(id, span)) return poison(span);
  const PointerTypes pointers(*notes_.bodies[id], *notes_.script_names);
  // The function's own names, loops and `next`; the probe's come again behind it.
  auto locals = std::exchange(locals_, {});
  auto arguments = std::exchange(arguments_, {});
  const auto next = std::exchange(next_, std::nullopt);
  const int loops = std::exchange(loops_, 0);
  const PointerTypes* before = std::exchange(pointers_, &pointers);
  const size_t errors = diags_.error_count();
  inlined_.push_back(begin_inlined(id));
  const LocalId first = inlined_.back().first;
  Block block;
  for (LocalId i = 0; i < args.size(); ++i) {
    const Span place = args[i]->span;
    ExprPtr set =
        make(Assign{std::nullopt, make(LocalRef{first + i}, place), std::move(args[i])}, place);
    block.body.push_back(make_stmt(ExprStmt{std::move(set)}, place));
  }
  block.body.push_back(function_body(*notes_.bodies[id], id, first));
  Inlined call = std::move(inlined_.back());
  inlined_.pop_back();
  call.end = static_cast<LocalId>(frame_.locals.size());
  call.body = make_stmt(std::move(block), span);
  locals_ = std::move(locals);
  arguments_ = std::move(arguments);
  next_ = next;
  loops_ = loops;
  pointers_ = before;
  if (diags_.error_count() != errors) {
    notes_.wrong.insert(id);
    if (diags_.last().severity == Severity::Error)
      diags_.last().labels.push_back({span, "called here"});
  }
  return make(std::move(call), span, program_.functions[id].result);
}

}  // namespace dj
