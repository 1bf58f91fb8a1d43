// SPDX-License-Identifier: Apache-2.0
// The C library, by its file's name.
#include "runtime/process/c_library.h"

#include <string_view>

#include "runtime/process/elf_file.h"

namespace dj {
namespace {

std::string_view name_of(const MappedModule& module) {
  std::string_view name = module.path;
  name.remove_prefix(name.rfind('/') + 1);
  return name;
}

}  // namespace

// glibc's libc.so.6 and libc-2.31.so, musl's ld-musl-x86_64.so.1.
const MappedModule* c_library(const std::vector<MappedModule>& modules) {
  const MappedModule* own = nullptr;
  for (const MappedModule& module : modules) {
    if (module.is_vdso) continue;
    std::string_view name = name_of(module);
    if (name.starts_with("libc.so") || name.starts_with("libc-2.") || name.starts_with("ld-musl"))
      return &module;
    if (module.is_executable_file) own = &module;
  }
  if (own == nullptr) return nullptr;
  Result<ElfFile> elf = read_elf(own->open_path);
  return elf.ok() && elf.value().interpreter.empty() ? own : nullptr;
}

}  // namespace dj
