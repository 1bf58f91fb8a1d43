// Declares the functions and binds every body in the script's order.
#include "compiler/check/bind.h"

#include <fmt/format.h>

#include "compiler/check/overload.h"

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
                        [](const ast::Return& r) {
                          return r.value ? std::optional<Span>(r.value->span) : std::nullopt;
                        },
                        [](const auto&) -> std::optional<Span> { return std::nullopt; },
                    },
                    s.node);
}

// Declares one function; false: not to be bound (a second one of its name).
bool declare(const ast::FunctionDecl& decl, Program& program, Notes& notes, Diags& diags) {
  if (is_print_name(decl.name)) {
    Diag& diag =
        diags.error("DJ2003", decl.name_span,
                    fmt::format("`{}` is part of the language and cannot be redefined", decl.name));
    diag.help = "choose another name";
  }
  auto known = notes.functions.find(decl.name);
  if (known != notes.functions.end()) {
    Diag& diag = diags.error("DJ2002", decl.name_span,
                             fmt::format("the function `{}` is defined twice", decl.name));
    diag.labels.push_back({program.functions[known->second].span, "first defined here"});
    return false;
  }
  Function function{.name = decl.name, .span = decl.name_span};
  function.param_count = static_cast<uint32_t>(decl.params.size());
  FunctionFacts facts;
  facts.value_returned = find_return(*decl.body);
  function.result = facts.value_returned ? Type::Unknown : Type::Void;
  if (!decl.type.empty()) {
    facts.result_declared = decl.name_span;
    function.result = declared_type(decl.type);
  }
  for (const ast::Param& param : decl.params) {
    facts.param_spans.push_back(param.span);
    facts.param_types.push_back(declared_type(param.type));
  }
  notes.functions.emplace(decl.name, static_cast<FunctionId>(program.functions.size()));
  program.functions.push_back(std::move(function));
  notes.function_facts.push_back(std::move(facts));
  return true;
}

void bind_function(const ast::FunctionDecl& decl, Function& function, Program& program,
                   Notes& notes, Diags& diags) {
  Binder binder(program, notes, diags, function.frame, nullptr, nullptr);
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
  function.body = binder.body(*decl.body);
}

bool does_nothing(const Stmt& s) {
  const Block* block = std::get_if<Block>(&s.node);
  if (block == nullptr) return false;
  for (const StmtPtr& each : block->body) {
    if (!does_nothing(*each)) return false;
  }
  return true;
}

}  // namespace

Binder::Binder(Program& program, Notes& notes, Diags& diags, Frame& frame, Probe* probe,
               const ast::Probe* source)
    : program_(program),
      notes_(notes),
      diags_(diags),
      frame_(frame),
      probe_(probe),
      source_(source) {}

LocalId Binder::add_local(const std::string& name) {
  LocalId id = static_cast<LocalId>(frame_.locals.size());
  frame_.locals.push_back({name, Type::Unknown});
  locals_.insert_or_assign(name, id);
  return id;
}

LocalId Binder::local(const std::string& name) {
  auto known = locals_.find(name);
  return known != locals_.end() ? known->second : add_local(name);
}

ExprPtr Binder::poison(Span span) { return make(IntLit{0}, span); }

void bind(const ast::Script& script, Program& program, Notes& notes, Diags& diags) {
  std::vector<const ast::FunctionDecl*> declared;
  for (const ast::FunctionDecl& decl : script.functions) {
    if (declare(decl, program, notes, diags)) declared.push_back(&decl);
  }
  for (size_t i = 0; i < declared.size(); ++i) {
    bind_function(*declared[i], program.functions[i], program, notes, diags);
  }
  for (const ast::Probe& source : script.probes) {
    Probe probe{.span = source.span, .points = source.points};
    Binder binder(program, notes, diags, probe.frame, &probe, &source);
    probe.body = binder.body(*source.body);
    probe.empty = does_nothing(*probe.body);
    program.probes.push_back(std::move(probe));
  }
}

}  // namespace dj
