// Which scripts need the stack's tables.
#include "compiler/stack_info.h"

#include "compiler/walk.h"
#include "stdlib/builtins.h"

namespace dj {
namespace {

// Finds a call of a built-in that walks or names the stack.
struct StackUse {
  bool found = false;

  void operator()(const Expr& expr) {
    const auto* call = std::get_if<CallBuiltin>(&expr.node);
    found = found || (call != nullptr && (builtins()[call->builtin].flags & kStack) != 0);
    for_each_child(expr, *this);
  }
  void operator()(const Stmt& stmt) { for_each_child(stmt, *this); }
};

template <typename Bodies>
bool any_walks_stack(const Bodies& bodies) {
  StackUse use;
  for (const auto& each : bodies) {
    if (each.body) use(*each.body);
  }
  return use.found;
}

}  // namespace

bool functions_walk_stack(const Program& program) { return any_walks_stack(program.functions); }

bool walks_stack(const Program& program) {
  return any_walks_stack(program.probes) || functions_walk_stack(program);
}

}  // namespace dj
