// SPDX-License-Identifier: Apache-2.0
// Declares the functions and binds every body in the script's order.
#include "compiler/check/bind.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/check/forms.h"
#include "compiler/check/overload.h"
#include "compiler/check/uses.h"
#include "compiler/stages/walk_ast.h"

namespace dj {
namespace {

Type declared_type(const std::string& word) {
  if (word == "long") return Type::Int;
  if (word == "string") return Type::Str;
  return Type::Unknown;
}

// The first `return value` in a body, if any.
std::optional<Span> find_return(const ast::Stmt& s) {
  return std::visit(Overload{
                        [](const ast::Block& b) -> std::optional<Span> {
                          for (const ast::StmtPtr& each : b.body) {
                            if (std::optional<Span> found = find_return(*each)) return found;
                          }
                          return std::nullopt;
                        },
                        [](const ast::If& i) {
                          std::optional<Span> found = find_return(*i.then);
                          return found || !i.otherwise ? found : find_return(*i.otherwise);
                        },
                        [](const ast::While& w) { return find_return(*w.body); },
                        [](const ast::For& f) { return find_return(*f.body); },
                        [](const ast::Foreach& f) { return find_return(*f.body); },
                        [](const ast::Try& t) {
                          std::optional<Span> found = find_return(*t.body);
                          return found ? found : find_return(*t.handler);
                        },
                        [](const ast::Return& r) {
                          return r.value ? std::optional<Span>(r.value->span) : std::nullopt;
                        },
                        [](const auto&) -> std::optional<Span> { return std::nullopt; },
                    },
                    s.node);
}

struct NextFinder {
  bool found = false;
  void operator()(const ast::Expr&) {}
  void operator()(const ast::Stmt& s) {
    found |= std::holds_alternative<ast::Next>(s.node);
    ast::for_each_child(s, *this);
  }
};

bool has_next(const ast::Stmt& body) {
  NextFinder finder;
  finder(body);
  return finder.found;
}

void declare(const ast::FunctionDecl& decl, Program& program, Notes& notes, Diags& diags) {
  if (is_print_name(decl.name)) {
    Diag& diag =
        diags.error("DJ2003", decl.name_span,
                    fmt::format("`{}` is part of the language and cannot be redefined", decl.name));
    diag.help = "choose another name";
  }
  Function function{.name = decl.name, .span = decl.name_span};
  function.param_count = static_cast<uint32_t>(decl.params.size());
  FunctionFacts facts;
  facts.value_returned = find_return(*decl.body);
  facts.priority = decl.priority.value_or(0);
  facts.has_next = has_next(*decl.body);
  function.result = facts.value_returned ? Type::Unknown : Type::Void;
  if (!decl.type.empty()) {
    facts.result_declared = decl.name_span;
    function.result = declared_type(decl.type);
  }
  for (const ast::Param& param : decl.params) {
    facts.param_spans.push_back(param.span);
    facts.param_types.push_back(declared_type(param.type));
  }
  notes.functions[decl.name].push_back(static_cast<FunctionId>(program.functions.size()));
  program.functions.push_back(std::move(function));
  notes.facts.functions.push_back(std::move(facts));
  notes.bodies.push_back(decl.body.get());
}

// Functions of one name and one number of parameters are one function with several bodies: `next`
// hands the call from each to the following one.
void chain_overloads(Program& program, Notes& notes, Diags& diags) {
  for (auto& [name, ids] : notes.functions) {
    std::stable_sort(ids.begin(), ids.end(), [&](FunctionId a, FunctionId b) {
      return notes.facts.functions[a].priority < notes.facts.functions[b].priority;
    });
    for (size_t i = 0; i < ids.size(); ++i) {
      Function& first = program.functions[ids[i]];
      auto dlopened = std::find_if(
          ids.begin() + static_cast<ptrdiff_t>(i) + 1, ids.end(),
          [&](auto id) { return program.functions[id].param_count == first.param_count; });
      if (dlopened == ids.end()) continue;
      FunctionFacts& facts = notes.facts.functions[ids[i]];
      facts.next = *dlopened;
      if (facts.has_next) continue;
      Diag& diag = diags.warning(
          "DJ2905", program.functions[*dlopened].span,
          fmt::format("this `{}` is never called: one of its name goes before it", name));
      diag.labels.push_back({first.span, "this one has no `next`"});
    }
    // From the last to the first: one that passes the call on has the value of those behind it.
    for (size_t i = ids.size(); i-- > 0;) {
      const FunctionFacts& facts = notes.facts.functions[ids[i]];
      Function& function = program.functions[ids[i]];
      if (function.result != Type::Void || !facts.next || !facts.has_next) continue;
      function.result =
          program.functions[*facts.next].result == Type::Void ? Type::Void : Type::Unknown;
    }
  }
}

void bind_function(const ast::FunctionDecl& decl, FunctionId id, const ScriptNames& names,
                   Program& program, Notes& notes, Diags& diags) {
  Function& function = program.functions[id];
  const PointerTypes pointers(*decl.body, names);
  Binder binder(program, notes, diags, function.frame, pointers, Binder::Bound());
  for (size_t i = 0; i < decl.params.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (decl.params[j].name != decl.params[i].name) continue;
      Diag& diag = diags.error("DJ2002", decl.params[i].span,
                               fmt::format("two parameters are called `{}`", decl.params[i].name));
      diag.labels.push_back({decl.params[j].span, "first declared here"});
      break;
    }
    binder.add_local(decl.params[i].name);
  }
  for (const RegisterRead& read : notes.register_reads.at(decl.name)) {
    binder.add_local(read.text);
    FunctionFacts& facts = notes.facts.functions[id];
    facts.param_spans.push_back(function.span);
    // Whether one is a fraction its uses tell, as of other parameters.
    const bool fraction = read.call->name == "double_arg" || read.call->name == "float_arg";
    facts.param_types.push_back(fraction ? Type::Unknown : Type::Int);
  }
  if (notes.of_probes.contains(decl.name)) {  // its statements are bound where it is called
    function.body = std::make_unique<Stmt>(Stmt{decl.body->span, Block{}});
  } else {
    function.body = function_body(binder, *decl.body, id);
  }
}

bool does_nothing(const Stmt& s) {
  const Block* block = std::get_if<Block>(&s.node);
  if (block == nullptr) return false;
  for (const StmtPtr& each : block->body) {
    if (!does_nothing(*each)) return false;
  }
  return true;
}

// Points with one arming condition have one handler.
std::vector<std::vector<ast::ProbePoint>> points_by_condition(const ast::Probe& source) {
  std::vector<std::vector<ast::ProbePoint>> groups;
  for (const ast::ProbePoint& point : source.points) {
    auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      return group.front().condition == point.condition;
    });
    if (same == groups.end()) same = groups.emplace(groups.end());
    same->push_back(point);
  }
  return groups;
}

void bind_probe(const ast::Probe& source, std::vector<ast::ProbePoint> points,
                const ScriptNames& names, Program& program, Notes& notes, Diags& diags) {
  std::shared_ptr<const ast::Expr> condition = points.empty() ? nullptr : points.front().condition;
  Probe probe{.span = source.span, .points = std::move(points)};
  const PointerTypes pointers(*source.body, names);
  Binder binder(program, notes, diags, probe.frame, pointers, {&probe, &source});
  ExprPtr guard;
  if (condition) {
    probe.condition = bind_arming_condition(binder, *condition);
    if (!is_poisoned(*probe.condition)) guard = bind_arming_condition(binder, *condition);
  }
  probe.body = binder.stmt(*source.body);
  probe.empty = does_nothing(*probe.body);
  if (guard) {  // what is armed too long does nothing all the same
    Span span = probe.body->span;
    If armed{std::move(guard), std::move(probe.body), nullptr};
    probe.body = std::make_unique<Stmt>(Stmt{span, std::move(armed)});
  }
  program.probes.push_back(std::move(probe));
}

}  // namespace

void bind(const ast::Script& script, Program& program, Notes& notes, Diags& diags) {
  notes.register_reads = find_register_reads(script);
  notes.of_probes = functions_of_probes(script);
  const ScriptNames names(script);
  notes.script_names = &names;
  for (const ast::FunctionDecl& decl : script.functions) declare(decl, program, notes, diags);
  chain_overloads(program, notes, diags);
  for (FunctionId id = 0; id < script.functions.size(); ++id) {
    bind_function(script.functions[id], id, names, program, notes, diags);
  }
  for (const ast::Probe& source : script.probes) {
    size_t errors = diags.error_count();
    for (std::vector<ast::ProbePoint>& points : points_by_condition(source)) {
      if (diags.error_count() != errors) break;  // each body's mistakes once
      bind_probe(source, std::move(points), names, program, notes, diags);
    }
  }
  // From here on nothing is called by the parameters that the script has written alone.
  for (Function& function : program.functions)
    function.param_count += static_cast<uint32_t>(notes.register_reads.at(function.name).size());
  notes.script_names = nullptr;
  share_snapshot_shapes(program, notes, diags);
}

}  // namespace dj
