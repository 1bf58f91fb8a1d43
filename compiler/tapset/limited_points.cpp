// SPDX-License-Identifier: Apache-2.0
// probe process(12).function("f") { body } becomes
// probe process.function("f") { if (pid() != 12) next; body },
// and probe process.syscall(0) { body } becomes
// probe process.syscall(0) { if ($syscall != 0) next; body }.
#include "compiler/tapset/limited_points.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "compiler/tapset/copy_ast.h"

namespace dj {

using namespace ast;

namespace {

using OwnNumbers = std::map<int64_t, int64_t>;
// The number that limits the point. None: no limit.
using TakeNumber = std::function<std::optional<int64_t>(ProbePoint&)>;
using BodyFor = std::function<StmtPtr(int64_t number, const Stmt& body)>;

template <typename Of, typename Node>
std::unique_ptr<Of> make(Span span, Node node) {
  auto made = std::make_unique<Of>();
  made->span = span;
  made->node = std::move(node);
  return made;
}

// { if (value != number) next; body }
StmtPtr where(ExprPtr value, int64_t number, const Stmt& body) {
  const Span span = body.span;
  auto is_other =
      make<Expr>(span, Binary{BinOp::Ne, span, std::move(value), make<Expr>(span, Number{number})});
  Block block;
  block.body.push_back(
      make<Stmt>(span, If{std::move(is_other), make<Stmt>(span, Next{}), nullptr}));
  block.body.push_back(copy(body));
  return make<Stmt>(span, std::move(block));
}

// Moves the points with a number into probes of their own.
void split(Script& script, const TakeNumber& take_number, const BodyFor& body_for) {
  std::vector<Probe> probes;
  for (Probe& probe : script.probes) {
    std::map<int64_t, std::vector<ProbePoint>> limited;
    std::vector<ProbePoint> others;
    for (ProbePoint& point : probe.points) {
      const std::optional<int64_t> number = take_number(point);
      (number ? limited[*number] : others).push_back(std::move(point));
    }
    std::vector<Probe> made;
    for (auto& [number, points] : limited)
      made.push_back({probe.span, std::move(points), body_for(number, *probe.body), probe.writes});
    probe.points = std::move(others);
    if (!probe.points.empty()) probes.push_back(std::move(probe));
    std::ranges::move(made, std::back_inserter(probes));
  }
  script.probes = std::move(probes);
}

std::optional<int64_t> process_number(const ProbePoint& point) {
  const Component& first = point.components.front();
  const auto* number = std::get_if<int64_t>(&first.argument);
  return first.name == "process" && number != nullptr ? std::optional(*number) : std::nullopt;
}

}  // namespace

std::vector<int64_t> processes_named_alone(const Script& script) {
  std::vector<int64_t> numbers;
  for (const Probe& probe : script.probes) {
    for (const ProbePoint& point : probe.points) {
      const std::optional<int64_t> number = process_number(point);
      const std::string& first = point.components.front().name;
      if (!number && (first == "process" || first == "func")) return {};
      if (number && std::ranges::find(numbers, *number) == numbers.end())
        numbers.push_back(*number);
    }
  }
  return numbers;
}

void limit_to_processes(Script& script, const OwnNumbers& own) {
  const TakeNumber take_number = [&](ProbePoint& point) -> std::optional<int64_t> {
    const std::optional<int64_t> number = process_number(point);
    if (!number || !own.contains(*number)) return std::nullopt;
    point.components.front().argument = std::monostate();
    return number;
  };
  const BodyFor body_for = [&](int64_t number, const Stmt& body) {
    return where(make<Expr>(body.span, Call{"pid", body.span, {}}), own.at(number), body);
  };
  split(script, take_number, body_for);
}

void limit_to_system_calls(Script& script) {
  const TakeNumber take_number = [](ProbePoint& point) -> std::optional<int64_t> {
    for (const Component& component : point.components) {
      const auto* number = std::get_if<int64_t>(&component.argument);
      if (component.name == "syscall" && number != nullptr) return *number;
    }
    return std::nullopt;
  };
  const BodyFor body_for = [](int64_t number, const Stmt& body) {
    return where(make<Expr>(body.span, Target{"syscall"}), number, body);
  };
  split(script, take_number, body_for);
}

}  // namespace dj
