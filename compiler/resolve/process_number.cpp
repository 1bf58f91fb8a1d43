// SPDX-License-Identifier: Apache-2.0
// What stands for a number is put where kinds of points look for it: they know files alone.
#include "compiler/resolve/process_number.h"

#include <fmt/format.h>

#include <string>

namespace dj {

namespace {

std::string why_not(int64_t wanted, int64_t pid, bool more) {
  if (pid == 0) return fmt::format("no process is traced, so {} is none", wanted);
  if (more) return fmt::format("process {} is none of those that are traced", wanted);
  return fmt::format("process {} is not the traced one, {}", wanted, pid);
}

}  // namespace

void take_process_numbers(std::vector<ast::ProbePoint>& points, int64_t pid, bool more,
                          Diags& diags) {
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
      diags.error("DJ3005", c.argument_span, why_not(wanted, pid, more)).help =
          fmt::format("trace it: -p {}; `process` alone is whatever is traced", wanted);
    }
    point.components = {ast::Component{.name = "never", .name_span = c.name_span}};
  }
}

}  // namespace dj
