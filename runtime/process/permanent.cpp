// SPDX-License-Identifier: Apache-2.0
// The closure of DT_NEEDED, by file name: a library that is loaded at start stays for good.
#include "runtime/process/permanent.h"

#include <algorithm>
#include <string>

#include "runtime/process/elf_file.h"

namespace dj {
namespace {

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

std::vector<bool> permanent_modules(const std::vector<MappedModule>& modules) {
  std::vector<bool> permanent(modules.size());
  std::vector<std::string> todo;
  for (size_t i = 0; i < modules.size(); i++) {
    if (modules[i].is_executable_file) {
      permanent[i] = true;
      todo.push_back(modules[i].open_path);
    }
  }
  while (!todo.empty()) {
    const std::vector<std::string> needed = needed_libraries(todo.back());
    todo.pop_back();
    for (size_t i = 0; i < modules.size(); i++) {
      const MappedModule& m = modules[i];
      if (!permanent[i] && !m.is_vdso &&
          std::find(needed.begin(), needed.end(), name_of(m.path)) != needed.end()) {
        permanent[i] = true;
        todo.push_back(m.open_path);
      }
    }
  }
  return permanent;
}

}  // namespace dj
