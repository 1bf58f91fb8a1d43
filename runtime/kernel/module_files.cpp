// SPDX-License-Identifier: Apache-2.0
// Which kernel is meant, and what the small files of /proc say.
#include "runtime/kernel/module_files.h"

#include <sys/utsname.h>

#include <fstream>
#include <iterator>

namespace dj {

std::string ModuleFiles::kernel() const {
  if (!release.empty()) return release;
  utsname name = {};
  uname(&name);
  return name.release;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace dj
