// SPDX-License-Identifier: Apache-2.0
// MeantTarget tells whether the probe points of a script are places of the kernel or of a process.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/diag/diag.h"
#include "compiler/stages/ast.h"

namespace dj {

class MeantTarget {
 public:
  // has_process: the command line names a process. Without one, func("name") means the kernel.
  explicit MeantTarget(bool has_process) : has_process_(has_process) {}

  void add(const std::vector<ast::ProbePoint>& points);
  // Whether the points that were added probe the kernel. What may be missing ('?', '!', wildcards)
  // decides only where nothing else does, and the command line names no process.
  bool is_kernel() const;
  // Reports the mistake where some points must be of the kernel and others of a process.
  void check(Diags& diags) const;
  // Whether a point means functions of this module of the kernel.
  bool means_module(const std::string& name) const;

 private:
  // Of the kernel, or of processes.
  struct Side {
    std::optional<ast::ProbePoint> needed;  // the first that must be there
    bool has_any = false;
  };
  void add_modules(const ast::ProbePoint& point);
  bool has_process_;
  Side kernel_, process_;
  std::vector<std::string> modules_;  // names and wildcards
};

// Whether the point's first name is one of the kernel's: kernel, module, kprobe.
bool names_kernel(const ast::ProbePoint& point);

}  // namespace dj
