// SPDX-License-Identifier: Apache-2.0
// What stands for a number is put where kinds of points look for it: they know files alone.
#include "compiler/resolve/process_number.h"

#include <fmt/format.h>

namespace dj {

void take_process_numbers(std::vector<ast::ProbePoint>& points, int64_t pid, Diags& diags) {
  for (ast::ProbePoint& point : points) {
    ast::Component& c = point.components[0];
    const auto* number = std::get_if<int64_t>(&c.argument);
    if (c.name != "process" || number == nullptr) continue;
    const int64_t wanted = *number;
    if (wanted == pid) {
      c.argument = std::monostate();
      continue;
    }
    if (!point.optional && !point.sufficient) {
      diags
          .error("DJ3005", c.argument_span,
                 pid == 0 ? fmt::format("no process is traced, so {} is none", wanted)
                          : fmt::format("process {} is not the traced one, {}", wanted, pid))
          .help = fmt::format("trace it: -p {}; `process` alone is whatever is traced", wanted);
    }
    point.components = {ast::Component{.name = "never", .name_span = c.name_span}};
  }
}

}  // namespace dj
