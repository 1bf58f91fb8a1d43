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
  // Whether the points that were added probe the kernel. Reports the mistake where some of them
  // must be of the kernel and others of a process. What may be missing ('?', '!', wildcards)
  // decides only where nothing else does.
  bool is_kernel(Diags& diags) const;

 private:
  // Of the kernel, or of processes.
  struct Side {
    std::optional<ast::ProbePoint> needed;  // the first that must be there
    bool has_any = false;
  };
  bool has_process_;
  Side kernel_, process_;
};

// Whether the point's first name is one of the kernel's: kernel, module, kprobe.
bool names_kernel(const ast::ProbePoint& point);

}  // namespace dj
