// SPDX-License-Identifier: Apache-2.0
// Binds calls of script functions and built-ins, and the @operators.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/check/forms.h"
#include "compiler/check/signature.h"
#include "compiler/check/stat_ops.h"
#include "compiler/check/uses.h"
#include "compiler/diag/other_words.h"
#include "stdlib/builtins.h"

namespace dj {
namespace {

// "takes no arguments", "takes 1 argument", "takes 1 to 2 arguments"; ", got N".
std::string arity_message(std::string_view name, size_t least, size_t most, size_t got) {
  std::string wanted = most == 0       ? "no"
                       : least == most ? fmt::format("{}", most)
                                       : fmt::format("{} to {}", least, most);
  return fmt::format("`{}` takes {} argument{}, got {}", name, wanted, most == 1 ? "" : "s", got);
}

// SystemTap's overloads of one name are rows of their own here. Source: its uconversions.stp.
BuiltinId overload_of(BuiltinId id, size_t arguments) {
  struct Overload {
    std::string_view name;
    size_t arguments;
    std::string_view row;
  };
  constexpr Overload kOverloads[] = {
      {"user_string", 2, "user_string2"},
      {"user_string_n", 3, "user_string_n2"},
      {"user_string_n_quoted", 3, "user_string_n2_quoted"},
      {"user_string_utf16", 2, "user_string2_utf16"},
      {"user_string_utf32", 2, "user_string2_utf32"},
  };
  for (const Overload& each : kOverloads) {
    if (builtins()[id].name == each.name && arguments == each.arguments)
      return *find_builtin(each.row);
  }
  return id;
}

// The first of the overloads that takes so many arguments; `next` in it leads to the others.
ExprPtr call_script(Binder& binder, const std::vector<FunctionId>& overloads, const ast::Call& c,
                    Span span) {
  auto fits = [&](FunctionId id) {
    return binder.program.functions[id].param_count == c.args.size();
  };
  auto found = std::find_if(overloads.begin(), overloads.end(), fits);
  if (found != overloads.end()) {
    std::vector<ExprPtr> args = binder.exprs(c.args);
    if (binder.notes.of_probes.contains(c.name))
      return bind_inlined(binder, *found, std::move(args), span);
    pass_registers(binder, c.name, span, args);
    return make(CallFunction{*found, std::move(args)}, span,
                binder.program.functions[*found].result);
  }
  binder.exprs(c.args);
  size_t least = SIZE_MAX, most = 0;
  for (FunctionId id : overloads) {
    least = std::min<size_t>(least, binder.program.functions[id].param_count);
    most = std::max<size_t>(most, binder.program.functions[id].param_count);
  }
  Diag& diag =
      binder.diags.error("DJ2007", span, arity_message(c.name, least, most, c.args.size()));
  for (FunctionId id : overloads) {
    diag.labels.push_back({binder.program.functions[id].span, "defined here"});
  }
  return poison(span);
}

// @probewrite(x) in an alias: whether the probe that uses the alias writes x.
ExprPtr probe_writes(Binder& binder, const ast::At& a, Span span) {
  const ast::Expr* asked = a.args.size() == 1 ? a.args[0].get() : nullptr;
  const auto* name = asked != nullptr ? std::get_if<ast::Name>(&asked->node) : nullptr;
  const bool is_target = asked != nullptr && std::holds_alternative<ast::Target>(asked->node);
  if (binder.source == nullptr || (name == nullptr && !is_target)) {
    binder.diags
        .error("DJ2009", span, "`@probewrite` takes a variable, in the statements of an alias")
        .help = "write @probewrite(variable)";
    return poison(span);
  }
  const std::vector<std::string>& names = binder.source->writes;  // never the program's variables
  const bool writes =
      name != nullptr && std::find(names.begin(), names.end(), name->name) != names.end();
  return make(IntLit{writes}, span, Type::Int);
}

ExprPtr undefined_function(Binder& binder, const ast::Call& c, Span span) {
  binder.exprs(c.args);  // mistakes in the arguments are mistakes of their own
  std::vector<std::string> known = print_names();
  for (std::string& name : register_names()) known.push_back(std::move(name));
  for (const Builtin& row : builtins()) known.emplace_back(row.name);
  for (const Function& function : binder.program.functions) known.push_back(function.name);
  for (const char* statement : {"snapshot", "swap", "foreach", "while", "return", "delete"})
    known.push_back(statement);
  Diag& diag =
      binder.diags.error("DJ2001", c.name_span, fmt::format("there is no function `{}`", c.name));
  diag.help = help_for_other_word(c.name);
  if (diag.help.empty()) diag.help = help_for_kernel_word(c.name);
  for (const Function& function : binder.program.functions) {  // own_names.h spells private ones so
    if (function.name.starts_with(c.name + "@"))
      diag.help = "it is private to " + function.name.substr(c.name.size() + 1);
  }
  if (diag.help.empty()) diag.suggest(near_names(c.name, known));
  return poison(span);
}

}  // namespace

std::optional<BuiltinId> find_builtin(std::string_view name) {
  const std::vector<Builtin>& rows = builtins();
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].name == name) return static_cast<BuiltinId>(i);
  }
  return std::nullopt;
}

ExprPtr bind_call(Binder& binder, const ast::Call& c, Span span) {
  auto script = binder.notes.functions.find(c.name);
  if (script != binder.notes.functions.end()) return call_script(binder, script->second, c, span);
  if (is_snapshot_name(c.name)) return bind_snapshot(binder, c, span);
  if (is_print_name(c.name)) return bind_print(binder, c, span);
  if (is_register_name(c.name)) return bind_register(binder, c, span);
  if (std::optional<BuiltinId> builtin = find_builtin(c.name)) {
    return call_builtin(binder, *builtin, c, span);
  }
  return undefined_function(binder, c, span);
}

ExprPtr call_builtin(Binder& binder, BuiltinId id, const ast::Call& c, Span span) {
  std::vector<ExprPtr> args = binder.exprs(c.args);
  id = overload_of(id, args.size());
  Signature signature = parse_signature(builtins()[id].signature);
  if (c.name == "tokenize" && args.size() == 1)  // goes on in the text that was given before
    args.insert(args.begin(), make(StrLit{""}, span, Type::Str));
  if (args.size() < signature.required || args.size() > signature.params.size()) {
    Diag& diag = binder.diags.error(
        "DJ2007", span,
        arity_message(c.name, signature.required, signature.params.size(), args.size()));
    diag.notes.push_back(fmt::format("the function is {}", prototype(c.name, signature)));
    return poison(span);
  }
  while (args.size() < signature.params.size()) args.push_back(make(IntLit{0}, span, Type::Int));
  binder.notes.doubles |=
      std::string_view(builtins()[id].signature).find("double") != std::string::npos;
  return make(CallBuiltin{id, std::move(args)}, span, signature.result);
}

ExprPtr bind_at(Binder& binder, const ast::At& a, Span span) {
  if (a.op == "defined") return bind_defined(binder, a, span);
  if (a.op == "choose_defined") return bind_choose_defined(binder, a, span);
  if (a.op == "entry") return bind_entry(binder, a, span);
  if (a.op == "exit") return bind_exit(binder, a, span);
  if (a.op == "probewrite") return probe_writes(binder, a, span);
  if (std::optional<StatOp> op = stat_op(a.op)) return bind_stat(binder, *op, a, span);
  if (is_histogram(a.op)) {
    Diag& diag = binder.diags.error(
        "DJ2105", span,
        fmt::format("`@{}` can only be printed{}", a.op, a.op == "hist" ? "" : ", or indexed"));
    diag.help = fmt::format("write print(@{}(...)) as a statement of its own", a.op);
    return poison(span);
  }
  if (is_unbuilt_at(a.op)) {
    Diag& diag = binder.diags.error("DJ2009", a.op_span,
                                    fmt::format("djtap does not have SystemTap's `@{}`", a.op));
    if (a.op.ends_with("deref"))
      diag.help = "the kernel's memory cannot be read; @uderef(size, address) reads the program's";
    if (a.op.ends_with("register"))
      diag.help = "register(\"rax\") and @uregister(0) read the program's registers";
    return poison(span);
  }
  Diag& diag =
      binder.diags.error("DJ2008", a.op_span, fmt::format("there is no operator `@{}`", a.op));
  std::vector<std::string> near = near_names(a.op, known_at_names());
  for (std::string& each : near) each = "@" + each;
  diag.suggest(near);
  return poison(span);
}

ExprPtr bind_aggregate(Binder& binder, const ast::At& a, const ast::Expr& e) {
  const ast::Name* plain = std::get_if<ast::Name>(&e.node);
  const ast::Index* index = std::get_if<ast::Index>(&e.node);
  if (plain == nullptr && index == nullptr) {
    binder.diags.error(
        "DJ2104", e.span,
        fmt::format("`@{}` takes an aggregate: a variable or an array element", a.op));
    return nullptr;
  }
  const std::string& spelled = plain != nullptr ? plain->name : index->name;
  ExprPtr bound =
      index != nullptr ? bind_element(binder, *index, e.span, true) : bind_place(binder, e);
  if (!bound || is_poisoned(*bound)) return nullptr;
  if (std::holds_alternative<LocalRef>(bound->node)) {
    Diag& diag =
        binder.diags.error("DJ2104", e.span, fmt::format("`{}` is not an aggregate", spelled));
    std::vector<std::string> known;
    for (const Global& global : binder.program.globals) {
      if (global.value == Type::Stat) known.push_back(global.name);
    }
    diag.suggest(near_names(spelled, known));
    if (diag.help.empty()) diag.help = fmt::format("feed it by `{} <<< value`", spelled);
    return nullptr;
  }
  GlobalId id = plain != nullptr ? std::get<GlobalRef>(bound->node).global
                                 : std::get<ElementRef>(bound->node).array;
  if (binder.program.globals[id].value != Type::Stat) {
    GlobalFacts& facts = binder.notes.facts.globals[id];
    if (facts.reported) return nullptr;
    facts.reported = true;
    Diag& diag =
        binder.diags.error("DJ2104", e.span, fmt::format("`{}` is not an aggregate", spelled));
    if (facts.number) diag.labels.push_back({*facts.number, "it holds a plain value here"});
    diag.help = fmt::format("aggregates are fed by `{} <<< value`", spelled);
    return nullptr;
  }
  return bound;
}

}  // namespace dj
