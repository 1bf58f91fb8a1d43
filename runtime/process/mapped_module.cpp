// SPDX-License-Identifier: Apache-2.0
// Questions that a mapped module answers by itself.
#include "runtime/process/mapped_module.h"

#include <algorithm>

namespace dj {

bool is_replaced(const MappedModule& module) {
  return module.version && version_of(module.open_path) != module.version;
}

std::vector<std::string> module_paths(const std::vector<MappedModule>& modules) {
  std::vector<std::string> paths;
  for (const MappedModule& module : modules) {
    // A file that is mapped twice is one to resolve(): each of its sites is then at two places.
    const bool known = std::find(paths.begin(), paths.end(), module.path) != paths.end();
    if (module.is_vdso || known) continue;
    paths.insert(module.is_executable_file ? paths.begin() : paths.end(), module.path);
  }
  // Not by address, which is another one each time: plans are kept.
  if (!paths.empty()) std::sort(paths.begin() + 1, paths.end());
  return paths;
}

bool has_code(const MappedModule& module, uint64_t address) {
  return !module.partial || std::any_of(module.text.begin(), module.text.end(),
                                        [&](auto& range) { return range.contains(address); });
}

bool is_writable(const MappedModule& module, uint64_t address) {
  return std::any_of(module.writable.begin(), module.writable.end(),
                     [&](auto& range) { return range.contains(address); });
}

void trust_writable(std::vector<MappedModule>& modules) {
  for (MappedModule& module : modules) module.writable.clear();
}

bool is_mapped(const MappedModule& module, const std::vector<MappedModule>& now) {
  const auto [first, last] = std::ranges::equal_range(now, module.begin, {}, &MappedModule::begin);
  return std::any_of(first, last, [&](const MappedModule& m) { return m.path == module.path; });
}

}  // namespace dj
