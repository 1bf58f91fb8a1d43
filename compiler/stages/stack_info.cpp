// SPDX-License-Identifier: Apache-2.0
// Which scripts need the stack's tables.
#include "compiler/stages/stack_info.h"

#include "compiler/stages/samples.h"
#include "compiler/stages/walk.h"
#include "stdlib/builtins.h"

namespace dj {
namespace {

// Finds a call of a built-in with one of the flags.
struct StackUse {
  uint32_t flags;
  bool found = false;

  void operator()(const Expr& expr) {
    const auto* call = std::get_if<CallBuiltin>(&expr.node);
    found = found || (call != nullptr && (builtins()[call->builtin].flags & flags) != 0);
    for_each_child(expr, *this);
  }
  void operator()(const Stmt& stmt) { for_each_child(stmt, *this); }
};

template <typename Bodies>
bool any_uses(const Bodies& bodies, uint32_t flags) {
  StackUse use{flags};
  for (const auto& each : bodies) {
    if (each.body) use(*each.body);
  }
  return use.found;
}

}  // namespace

bool functions_walk_stack(const Program& program) { return any_uses(program.functions, kStack); }

bool walks_stack(const Program& program) {
  // A sample's function is looked up when the probe is hit.
  for (const Probe& probe : program.probes) {
    for (const ast::ProbePoint& point : probe.points) {
      if (is_profile(point)) return true;
    }
  }
  return any_uses(program.probes, kStack) || functions_walk_stack(program);
}

bool names_lines(const Program& program) {
  return any_uses(program.probes, kLines) || any_uses(program.functions, kLines);
}

}  // namespace dj
