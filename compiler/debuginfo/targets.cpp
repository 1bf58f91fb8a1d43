// SPDX-License-Identifier: Apache-2.0
// Follows a target expression through C types, and writes $$parms and its like.
#include "compiler/debuginfo/targets.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/debuginfo/arguments.h"
#include "compiler/debuginfo/go_results.h"
#include "compiler/debuginfo/lost_results.h"
#include "compiler/debuginfo/pretty.h"
#include "compiler/debuginfo/variables.h"

namespace dj {

namespace {

using Kind = TargetFailure::Kind;

constexpr int kAllDepths = 16;  // of $x$$

TargetFailure failure(Kind kind, std::string message) {
  return target_failure(kind, -1, std::move(message));
}

using Begun = std::variant<Navigator, TargetFailure>;

// One of the results of a Go function. text: as the script writes it.
Begun start_at_go_result(Dwarf_Die& result, const std::string& text, const Scene& scene) {
  Result<ValueLocation> value_at = go_result_at_exit(scene.function, result, scene.index);
  if (!value_at.ok()) {
    return failure(Kind::NotBuilt, text + " cannot be read: " + value_at.error().message);
  }
  return Navigator(value_at.take(), type_of(&result), text, scene);
}

Begun start_at_return(const Scene& scene) {
  if (!scene.place.at_return) {
    return failure(Kind::BadUse, "$return is known only in .return probes");
  }
  std::vector<Dwarf_Die> results = go_results(scene.function);
  if (!results.empty()) {
    return start_at_go_result(results.front(), "$return", scene);
  }
  TypeDie type = type_of(scene.function);
  if (!type) {
    return failure(Kind::BadUse, die_name(scene.function) + "() returns nothing");
  }
  if (scene.place.may_return_less && !callers_use_result(scene.function, scene.index)) {
    return failure(Kind::NotBuilt, "$return cannot be read: no caller of " +
                                       die_name(scene.function) +
                                       "() uses it, and this copy (.isra) may not have it");
  }
  Result<ValueLocation> value_at = result_at_exit(scene.function, scene.index);
  if (!value_at.ok()) {
    return failure(Kind::NotBuilt, "$return cannot be read: " + value_at.error().message);
  }
  return Navigator(value_at.take(), type, "$return", scene);
}

TargetFailure unknown_variable(const std::string& name, const Scene& scene) {
  auto& [function, place, index] = scene;
  TargetFailure f = failure(Kind::UnknownName,
                            fmt::format("no variable \"{}\" in {}()", name, die_name(function)));
  std::string line;
  for (ScopedVariable& v : variables_in_scope(function, place, index)) {
    f.known.push_back(v.name);
    line += fmt::format("{}${}: {}", line.empty() ? "" : ", ", v.name, type_name(type_of(&v.die)));
    if (!locate(v, function, place, index).ok()) {
      line += " (not here)";
    }
  }
  const std::string where = declared_at(function);
  f.notes.push_back(line.empty() ? "no variables are in scope here" : "in scope: " + line);
  if (!where.empty()) {
    f.notes.push_back(die_name(function) + "() is declared at " + where);
  }
  for (std::string& global : unit_variables(function)) {
    f.known.push_back(std::move(global));
  }
  return f;
}

Begun start_at(ScopedVariable& variable, const std::string& text, const Scene& scene) {
  auto& [function, place, index] = scene;
  if (place.at_return && is_go_result(&variable.die)) {
    return start_at_go_result(variable.die, text, scene);
  }
  Result<ValueLocation> value_at = locate(variable, function, place, index);
  if (value_at.ok()) {
    return Navigator(value_at.take(), type_of(&variable.die), text, scene);
  }
  const Kind kind = value_at.error().kind == Fail::Unsupported ? Kind::NotBuilt : Kind::NotHere;
  TargetFailure f =
      failure(kind, fmt::format("{} cannot be read here: {}", text, value_at.error().message));
  const std::string ranges = live_ranges(variable, place, index);
  if (!ranges.empty()) {
    f.notes.push_back(
        fmt::format("{} has a location in {}() at {}", text, die_name(function), ranges));
  }
  return f;
}

Begun start(const std::string& name, const Scene& scene) {
  if (name == "return") {
    return start_at_return(scene);
  }
  std::optional<ScopedVariable> variable =
      find_variable(name, scene.function, scene.place, scene.index);
  return variable ? start_at(*variable, "$" + name, scene) : Begun(unknown_variable(name, scene));
}

// @var("name@file"): a variable of the units whose source has that name; without a file that of the
// function or its unit, else of any unit.
Begun start_at_var(const TargetExpr& expr, const Scene& scene) {
  const size_t at = expr.name.find('@');
  const std::string name = expr.name.substr(0, at);
  const std::string file = at == std::string::npos ? "" : expr.name.substr(at + 1);
  std::optional<ScopedVariable> variable;
  if (file.empty() && scene.function) {
    variable = find_variable(name, scene.function, scene.place, scene.index);
  }
  if (!variable) {
    variable = find_unit_variable(name, file, scene.index);
  }
  if (variable) {
    return start_at(*variable, fmt::format("@var(\"{}\")", expr.name), scene);
  }
  TargetFailure f =
      failure(Kind::UnknownName, fmt::format("no variable \"{}\" in {}", name,
                                             file.empty() ? "any unit" : "units of " + file));
  if (scene.function) {
    f.known = unit_variables(scene.function);
  } else {
    for (Dwarf_Die unit : scene.index.units()) {
      std::vector<std::string> names = unit_variables(&unit);
      f.known.insert(f.known.end(), names.begin(), names.end());
    }
  }
  return f;
}

Begun walk(const TargetExpr& expr, const Scene& scene);

// Where the pointer leads that is given when it runs.
Navigator at_given(const CastType& type, const std::string& text, const Scene& scene) {
  ValueLocation value_at;
  value_at.expr.steps.push_back({LocStep::PushArg, 0});
  Navigator at(std::move(value_at), type.type, text, scene);
  at.set_given();
  at.set_pointers(type.pointers);
  return at;
}

// What a value of the expression points to; none: it is no pointer.
std::optional<CastType> pointed_by(const TargetExpr& expr, const Navigator& at, DwarfIndex& index) {
  const bool given = expr.base == TargetExpr::Cast && expr.path.empty();
  if (at.pointers() > 0) {
    return CastType{at.type(), at.pointers() - (expr.address_of || given ? 0 : 1)};
  }
  TypeDie type = strip_type(at.type(), index);
  while (type && is_reference(&*type)) {  // &$reference is where its object lies
    type = strip_type(type_of(&*type), index);
  }
  if (expr.address_of || given) {
    return CastType{type, 0};
  }
  if (!type || !(is_pointer(&*type) || is_array(&*type))) {
    return std::nullopt;
  }
  return CastType{strip_type(type_of(&*type), index), 0};  // const or not
}

// A pointer of the script's: its type is that of what it was assigned, at the function's entry or
// wherever that exists.
std::variant<CastType, TargetFailure> assigned_type(const TargetExpr& expr, const Scene& scene) {
  std::optional<CastType> found;
  std::optional<TargetFailure> failed;
  for (const TargetExpr& like : expr.like) {
    if (like.base == TargetExpr::Variable && !scene.function) {
      continue;
    }
    ProbePlace place = scene.place;
    place.at_entry |= place.at_return && like.name != "return";
    place.at_return &= like.name == "return";
    const Scene there{scene.function, place, scene.index};
    Begun begun = walk(like, there);
    if (auto* f = std::get_if<TargetFailure>(&begun)) {
      f->step = -1;
      failed = failed ? failed : *f;
      continue;
    }
    const Navigator& at = std::get<Navigator>(begun);
    std::optional<CastType> type = pointed_by(like, at, scene.index);
    if (!type || (!type->type && type->pointers == 0)) {  // a number, or a void*
      failed =
          failure(Kind::BadUse, fmt::format("{} {}: it was assigned a value of type {}", expr.name,
                                            type ? "leads to no type" : "is no pointer",
                                            at.type() ? type_name(at.type()) : "void*"));
      continue;
    }
    if (found &&
        (found->pointers != type->pointers || type_name(found->type) != type_name(type->type))) {
      TargetFailure f =
          failure(Kind::BadUse, fmt::format("{} was assigned pointers to {} and to {}", expr.name,
                                            type_name(found->type), type_name(type->type)));
      f.help = fmt::format("@cast({}, \"type\") says which it is here", expr.name);
      return f;
    }
    found = found ? found : type;
  }
  if (found) {
    return *found;
  }
  return failed ? *failed : failure(Kind::NotHere, fmt::format("{} has no type here", expr.name));
}

Begun start_at_cast(const TargetExpr& expr, const Scene& scene) {
  if (!expr.like.empty()) {
    auto type = assigned_type(expr, scene);
    if (auto* f = std::get_if<TargetFailure>(&type)) {
      return *f;
    }
    return Begun(at_given(std::get<CastType>(type), expr.name, scene));
  }
  const std::optional<CastType> found = find_cast_type(expr.name, scene.index, scene.place.pc);
  if (!found) {
    TargetFailure f =
        failure(Kind::UnknownName, fmt::format("no type \"{}\" in the debug info", expr.name));
    f.help = "types are written as in C: \"struct point\", \"size_t\", \"enum colour\", \"char*\"";
    return f;
  }
  return Begun(at_given(*found, "@cast(...)", scene));
}

bool lies_outside_of_frames(const ValueLocation& value_at) {
  return value_at.kind == ValueLocation::Memory &&
         std::none_of(value_at.expr.steps.begin(), value_at.expr.steps.end(),
                      [](const LocStep& step) { return step.op == LocStep::PushReg; });
}

// A parameter or local variable is gone at the exit; what it pointed to need not be. Variables
// outside of functions stay where they are.
Begun start_at_exit(const TargetExpr& expr, const Scene& scene) {
  Begun begun = start(expr.name, scene);
  Navigator* at = std::get_if<Navigator>(&begun);
  if (!at || lies_outside_of_frames(at->value_at())) {
    return begun;
  }
  TypeDie type = strip_type(at->type(), scene.index);
  const bool reference = type && is_reference(&*type);
  if (!reference && (!type || !is_pointer(&*type) || expr.path.empty())) {
    TargetFailure f = failure(
        Kind::BadUse, fmt::format("${} itself is gone where the function returns", expr.name));
    f.help = fmt::format("@exit(${}->member) is for pointers; ${} alone is its value at the entry",
                         expr.name, expr.name);
    return f;
  }
  ValueLocation given;
  given.kind = ValueLocation::Value;
  given.expr.steps.push_back({LocStep::PushEntry, reference ? kEntryReference : kEntryBase});
  return Navigator(std::move(given), at->type(), "$" + expr.name, scene);
}

Begun start_of(const TargetExpr& expr, const Scene& scene) {
  if (expr.at_exit && expr.base == TargetExpr::Variable) {
    return start_at_exit(expr, scene);
  }
  switch (expr.base) {
    case TargetExpr::Var:
      return start_at_var(expr, scene);
    case TargetExpr::Cast:
      return start_at_cast(expr, scene);
    default:
      return start(expr.name, scene);
  }
}

// The place that the expression means.
Begun walk(const TargetExpr& expr, const Scene& scene) {
  Begun begun = start_of(expr, scene);
  Navigator* at = std::get_if<Navigator>(&begun);
  int argument = expr.base == TargetExpr::Cast ? 1 : 0;
  for (size_t i = 0; at && i < expr.path.size(); i++) {
    const TargetStep& step = expr.path[i];
    Navigator::Failed failed = step.kind == TargetStep::Field ? at->field(step, int(i))
                                                              : at->element(step, int(i), argument);
    argument += step.kind == TargetStep::ArgElement;
    if (failed) {
      return *failed;
    }
  }
  return begun;
}

}  // namespace

TargetAnswer resolve_target(Dwarf_Die* function, const ProbePlace& place, const TargetExpr& expr,
                            DwarfIndex& index) {
  const Scene scene{function, place, index};
  Begun begun = walk(expr, scene);
  if (auto* f = std::get_if<TargetFailure>(&begun)) {
    return *f;
  }
  Navigator& at = std::get<Navigator>(begun);
  TargetAnswer answer = expr.address_of ? at.address() : at.value();
  auto* failed = std::get_if<TargetFailure>(&answer);
  if (failed && function && place.at_entry && expr.address_of &&
      at.value_at().kind != ValueLocation::Memory) {
    failed->help = fmt::format(
        "registers have it at the function's first instruction; at a line of {}() it may have an "
        "address: func(\"{}@FILE:LINE\")",
        die_name(function), die_name(function));
  }
  if (auto* value = std::get_if<LocExpr>(&answer)) {
    const bool pointing = at.pointers() > 0 || (at.type() && is_pointer(&*at.type()));
    value->is_pointer = expr.address_of || pointing || (at.type() && is_array(&*at.type()));
  }
  return answer;
}

TextAnswer resolve_pretty(Dwarf_Die* function, const ProbePlace& place, const TargetExpr& expr,
                          DwarfIndex& index) {
  const Scene scene{function, place, index};
  Begun begun = walk(expr, scene);
  if (auto* f = std::get_if<TargetFailure>(&begun)) {
    return *f;
  }
  if (std::get<Navigator>(begun).pointers() > 0) {
    return failure(Kind::BadUse,
                   fmt::format("\"{}\" with these steps is a pointer, which has no text "
                               "form; printf's %p shows it",
                               expr.name));
  }
  TextWriter writer;
  writer.pretty(std::get<Navigator>(begun), expr.pretty == 1 ? 1 : kAllDepths);
  return writer.finish();
}

TextAnswer resolve_text(Dwarf_Die* function, const ProbePlace& place, const TargetExpr& expr,
                        DwarfIndex& index) {
  const Scene scene{function, place, index};
  const std::string& name = expr.name;
  TextWriter writer;
  bool first = true;
  auto show = [&](const std::string& shown, Begun begun) {
    writer.literal((first ? "" : " ") + shown + "=");
    first = false;
    Navigator* at = std::get_if<Navigator>(&begun);
    if (!at) {
      writer.unknown();
    } else if (expr.pretty == 0) {
      writer.plain(*at);
    } else {
      writer.pretty(*at, expr.pretty == 1 ? 1 : kAllDepths);
    }
  };
  if (name == "$return") {
    if (!place.at_return) {
      return failure(Kind::BadUse, "$$return is known only in .return probes");
    }
    std::vector<Dwarf_Die> results = go_results(function);
    if (type_of(function) || !results.empty()) {
      show("return", start_at_return(scene));
    }
    for (size_t i = 1; i < results.size(); i++) {
      show(die_name(&results[i]), start_at_go_result(results[i], "$$return", scene));
    }
    return writer.finish();
  }
  // Each its own value, also where another of that name hides it.
  for (ScopedVariable& v : variables_in_scope(function, place, index)) {
    const bool comes_later = place.at_entry && is_go_result(&v.die);
    if (!comes_later && (name == "$vars" || (name == "$parms") == v.parameter)) {
      show(v.name, start_at(v, "$" + v.name, scene));
    }
  }
  return writer.finish();
}

}  // namespace dj
