// SPDX-License-Identifier: Apache-2.0
// ProbeKind: one row per form of probe point: what it looks like and who finds its places.
//
// To add a probe kind: add a row (or a form to one) in a probe_*.cpp of its own, declare its table
// below, list it in probe_kinds() (probe_kind.cpp), and test it with a script that uses it.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/diag/diag.h"
#include "compiler/resolve/module_set.h"
#include "compiler/stages/ast.h"
#include "compiler/stages/plan.h"

namespace dj {

// What one probe point means: sites (Site::module indexes the ModuleSet, handlers are empty) or a
// host probe.
struct PointMeaning {
  std::vector<Site> sites;
  std::optional<HostProbe> host;
  std::vector<Site> forks;  // where children of the target begin, if djtap must know of them
  int64_t order = 0;        // begin(N), end(N): ascending
};

// PointQuery: one probe point being looked up. `optional`: to find nothing is no mistake.
struct PointQuery {
  const ast::ProbePoint& point;
  ModuleSet& modules;
  Diags& diags;
  bool optional = false;
  // The objects are named by a wildcard: to find nothing among those that are mapped is no more
  // than a warning, others may come.
  bool may_wait = false;

  // The component of that name; null: the point has none.
  const ast::Component* component(std::string_view name) const;
  std::string text(const ast::Component& c) const { return std::get<std::string>(c.argument); }
};

struct ProbeKind {
  // "process(s).function(s).return": s a string, n a number. Matched component by component.
  // "<function>", "<kernel>" and "<process>" in front stand for every way to name functions, the
  // kernel's functions, and objects.
  const char* form;
  void (*find)(PointQuery& query, PointMeaning& meaning);
};

std::span<const ProbeKind> function_kinds();   // probe_function.cpp
std::span<const ProbeKind> inside_kinds();     // probe_inside.cpp
std::span<const ProbeKind> address_kinds();    // probe_address.cpp
std::span<const ProbeKind> kernel_kinds();     // probe_kernel.cpp
std::span<const ProbeKind> mark_kinds();       // probe_mark.cpp
std::span<const ProbeKind> plt_kinds();        // probe_plt.cpp
std::span<const ProbeKind> statement_kinds();  // probe_statement.cpp
std::span<const ProbeKind> lifecycle_kinds();  // probe_lifecycle.cpp
std::span<const ProbeKind> syscall_kinds();    // probe_syscall.cpp
std::span<const ProbeKind> thread_kinds();     // probe_thread.cpp
std::span<const ProbeKind> timer_kinds();      // probe_timer.cpp

// The row of the point, or null after reporting what is wrong with it. An optional point of unknown
// family is nothing, and no mistake.
const ProbeKind* find_kind(const ast::ProbePoint& point, Diags& diags);

// Of a point with wildcards in its names, the forms that it matches, component by component, as the
// rows have them: timer.* is timer.s(n), timer.ms(n) and so on.
std::vector<std::string> forms_matching(const ast::ProbePoint& point);

// The points that one with wildcards in its names means, arguments as they are: func("f").r* is
// func("f").return. "**" stands for any number of components.
std::vector<ast::ProbePoint> points_meant(const ast::ProbePoint& point);

// Text of a probe point as it was written: timer.s(1), func("x").return.
std::string to_string(const ast::ProbePoint& point);

}  // namespace dj
