// SPDX-License-Identifier: Apache-2.0
// probe process(12).function("f") { body } becomes
// probe process.function("f") { if (pid() != 12) next; body }.
#include "compiler/tapset/process_limits.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "compiler/tapset/copy_ast.h"

namespace dj {

using namespace ast;

namespace {

using OwnNumbers = std::map<int64_t, int64_t>;

std::optional<int64_t> number_of(const ProbePoint& point, const OwnNumbers& own) {
  const Component& first = point.components.front();
  const auto* number = std::get_if<int64_t>(&first.argument);
  const bool is_ours = first.name == "process" && number != nullptr && own.contains(*number);
  return is_ours ? std::optional(*number) : std::nullopt;
}

template <typename Of, typename Node>
std::unique_ptr<Of> make(Span span, Node node) {
  auto made = std::make_unique<Of>();
  made->span = span;
  made->node = std::move(node);
  return made;
}

StmtPtr in_process(int64_t pid, const Stmt& body) {
  const Span span = body.span;
  auto is_other = make<Expr>(span, Binary{BinOp::Ne, span, make<Expr>(span, Call{"pid", span, {}}),
                                          make<Expr>(span, Number{pid})});
  Block block;
  block.body.push_back(
      make<Stmt>(span, If{std::move(is_other), make<Stmt>(span, Next{}), nullptr}));
  block.body.push_back(copy(body));
  return make<Stmt>(span, std::move(block));
}

}  // namespace

void limit_to_processes(Script& script, const OwnNumbers& own) {
  std::vector<Probe> probes;
  for (Probe& probe : script.probes) {
    std::map<int64_t, std::vector<ProbePoint>> limited;
    std::vector<ProbePoint> others;
    for (ProbePoint& point : probe.points) {
      const std::optional<int64_t> number = number_of(point, own);
      if (number) point.components.front().argument = std::monostate();
      (number ? limited[*number] : others).push_back(std::move(point));
    }
    std::vector<Probe> made;
    for (auto& [number, points] : limited)
      made.push_back(
          {probe.span, std::move(points), in_process(own.at(number), *probe.body), probe.writes});
    probe.points = std::move(others);
    if (!probe.points.empty()) probes.push_back(std::move(probe));
    std::ranges::move(made, std::back_inserter(probes));
  }
  script.probes = std::move(probes);
}

}  // namespace dj
