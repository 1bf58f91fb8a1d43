// SPDX-License-Identifier: Apache-2.0
// The new bodies are walked once, and each number in them becomes that of the running program.
#include "compiler/check/grown_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "compiler/stages/walk.h"

namespace dj {
namespace {

// By number in the added program: the number in the running one.
struct Numbers {
  std::vector<GlobalId> globals;
  FunctionId functions = 0;  // what a function's number grows by; likewise:
  FormatId formats = 0;
  TargetId function_targets = 0;
};

// Renumber gives the nodes of a body the running program's numbers.
struct Renumber {
  const Numbers& numbers;
  bool is_function;  // the body's targets are Program::function_targets

  void operator()(Expr& expr) {
    if (auto* global = std::get_if<GlobalRef>(&expr.node)) move(global->global);
    if (auto* element = std::get_if<ElementRef>(&expr.node)) move(element->array);
    if (auto* in = std::get_if<InArray>(&expr.node)) move(in->array);
    if (auto* call = std::get_if<CallFunction>(&expr.node)) call->function += numbers.functions;
    if (auto* inlined = std::get_if<Inlined>(&expr.node)) inlined->function += numbers.functions;
    if (auto* print = std::get_if<Print>(&expr.node)) print->format += numbers.formats;
    if (is_function) move_target(expr);
    for_each_child(expr, *this);
  }
  void operator()(Stmt& stmt) {
    if (auto* loop = std::get_if<Foreach>(&stmt.node)) move(loop->array);
    if (auto* deleted = std::get_if<DeleteGlobal>(&stmt.node)) move(deleted->global);
    if (auto* snapshot = std::get_if<Snapshot>(&stmt.node)) {
      move(snapshot->from);
      move(snapshot->to);
    }
    for_each_child(stmt, *this);
  }

 private:
  void move(GlobalId& global) const { global = numbers.globals[global]; }
  void move_target(Expr& expr) const {
    if (auto* target = std::get_if<TargetRef>(&expr.node))
      target->target += numbers.function_targets;
    if (auto* defined = std::get_if<Defined>(&expr.node))
      defined->target += numbers.function_targets;
  }
};

auto identity(const Global& global) {
  return std::tuple(global.name, global.span.file, global.span.begin, global.span.end,
                    global.span.via);
}

bool same(const StatsAsked& one, const StatsAsked& other) {
  const auto linear = [](const StatsAsked& asked) {
    const Linear bounds = asked.hist_linear.value_or(Linear{});
    return std::tuple(asked.hist_linear.has_value(), bounds.start, bounds.stop, bounds.step);
  };
  return std::tuple(one.hist_log, one.variance, one.percentiles, linear(one)) ==
         std::tuple(other.hist_log, other.variance, other.percentiles, linear(other));
}

// What the added probes want of the global that the running handlers do not give it; empty:
// nothing.
std::string change(const Global& now, const Global& next) {
  if (now.value != next.value || now.keys != next.keys) return "has another type";
  if (now.storage != next.storage)
    return "is only counted by the handlers that run, and these read or set it";
  if (now.array.grows != next.array.grows || now.array.sums != next.array.sums)
    return "is only added to by the handlers that run, and these read it or take elements out";
  return same(now.asked, next.asked) ? "" : "is asked for statistics that are not kept";
}

void refuse(const Global& global, Span span, const std::string& why, Diags& diags) {
  Diag& diag =
      diags.error("DJ2036", span, fmt::format("`{}` of the running session {}", global.name, why));
  diag.help = "use a variable of another name in the probes that are added";
}

// Those that are not in `numbers`: a variable that was never declared is a global only as long as
// every use of it says so.
void refuse_lost(const Program& running, const std::vector<GlobalId>& numbers, Diags& diags) {
  for (GlobalId id = 0; id < running.globals.size(); ++id) {
    const Global& global = running.globals[id];
    if (!global.own() && std::ranges::find(numbers, id) == numbers.end())
      refuse(global, global.span, "would be another variable with the probes that are added",
             diags);
  }
}

// By number in `next`: the number that each global has, or will have.
std::vector<GlobalId> globals_in(const Program& running, const Program& next, Diags& diags) {
  std::vector<GlobalId> numbers;
  auto fresh = static_cast<GlobalId>(running.globals.size());
  for (const Global& global : next.globals) {
    const auto known = std::ranges::find_if(running.globals, [&](const Global& each) {
      return !each.own() && identity(each) == identity(global);
    });
    if (known == running.globals.end()) {
      numbers.push_back(fresh++);
      continue;
    }
    numbers.push_back(static_cast<GlobalId>(known - running.globals.begin()));
    const std::string wanted = change(*known, global);
    if (!wanted.empty()) refuse(global, global.span, wanted, diags);
  }
  refuse_lost(running, numbers, diags);
  return numbers;
}

template <typename T>
void append(std::vector<T>& to, std::vector<T>& from, size_t first = 0) {
  to.insert(to.end(), std::make_move_iterator(from.begin() + static_cast<ptrdiff_t>(first)),
            std::make_move_iterator(from.end()));
}

void renumber(Function& function, const Numbers& numbers) {
  if (function.body) Renumber{numbers, true}(*function.body);
}

void renumber(Probe& probe, const Numbers& numbers) {
  Renumber renumbering{numbers, false};
  if (probe.body) renumbering(*probe.body);
  if (probe.condition) renumbering(*probe.condition);
}

// The globals that are new, and what is known of the others since.
void add_globals(Program& running, Program& next, const std::vector<GlobalId>& numbers) {
  const size_t known = running.globals.size();
  for (size_t i = 0; i < next.globals.size(); ++i) {
    Global& global = next.globals[i];
    if (numbers[i] >= known) {
      running.globals.push_back(std::move(global));
      continue;
    }
    Global& now = running.globals[numbers[i]];
    now.ever_read = global.ever_read;
    now.ever_written = global.ever_written;
  }
}

}  // namespace

ProgramSize size_of(const Program& program) {
  return {program.globals.size(), program.functions.size(), program.probes.size(),
          program.formats.size(), program.function_targets.size()};
}

void shrink(Program& program, const ProgramSize& size) {
  program.globals.resize(size.globals);
  program.functions.resize(size.functions);
  program.probes.resize(size.probes);
  program.formats.resize(size.formats);
  program.function_targets.resize(size.function_targets);
}

size_t script_probes(const Program& program) {
  return static_cast<size_t>(
      std::ranges::count_if(program.probes, [](const Probe& probe) { return !probe.own; }));
}

ProbeId add_probes(Program& running, Program next, Diags& diags) {
  Numbers numbers;
  numbers.globals = globals_in(running, next, diags);
  numbers.functions = static_cast<FunctionId>(running.functions.size());
  numbers.formats = static_cast<FormatId>(running.formats.size());
  numbers.function_targets = static_cast<TargetId>(running.function_targets.size());
  const auto first = static_cast<ProbeId>(running.probes.size());
  if (!diags.ok()) return first;
  const size_t known = script_probes(running);
  for (Function& function : next.functions) renumber(function, numbers);
  for (size_t i = known; i < next.probes.size(); ++i) renumber(next.probes[i], numbers);
  add_globals(running, next, numbers.globals);
  append(running.functions, next.functions);
  append(running.formats, next.formats);
  append(running.function_targets, next.function_targets);
  append(running.probes, next.probes, known);
  return first;
}

PointsTaken::PointsTaken(Program& program, ProbeId first) : program_(program) {
  for (ProbeId id = 0; id < first; ++id)
    points_.push_back(std::exchange(program.probes[id].points, {}));
}

PointsTaken::~PointsTaken() {
  for (size_t id = 0; id < points_.size(); ++id)
    program_.probes[id].points = std::move(points_[id]);
}

}  // namespace dj
