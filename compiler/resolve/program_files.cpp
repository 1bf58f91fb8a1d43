// SPDX-License-Identifier: Apache-2.0
// Asks the ModuleSet of no process.
#include "compiler/resolve/program_files.h"

#include <algorithm>

#include "compiler/resolve/module_set.h"

namespace dj {

std::vector<std::string> program_files(const Program& program, Named named) {
  ModuleSet objects{TargetFiles{}};
  Diags silent;  // resolve() will say what is wrong
  std::vector<std::string> files;
  for (const Probe& probe : program.probes) {
    for (const ast::ProbePoint& point : probe.points) {
      const ast::Component& first = point.components.front();
      const auto* name = std::get_if<std::string>(&first.argument);
      if (first.name != "process" || name == nullptr) continue;
      if (named == Named::Exactly && has_wildcard(*name)) continue;
      for (const size_t object : objects.process(*name, point.span, silent)) {
        const std::string& path = objects.path(object);
        if (std::ranges::find(files, path) == files.end()) files.push_back(path);
      }
    }
  }
  return files;
}

}  // namespace dj
