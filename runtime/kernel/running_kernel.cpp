// SPDX-License-Identifier: Apache-2.0
// The kernel's text as a file of djtap's own memory.
#include "runtime/kernel/running_kernel.h"

#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "compiler/base/object_point.h"
#include "compiler/base/target_file.h"
#include "runtime/kernel/live_kernel.h"
#include "runtime/kernel/module_load.h"
#include "runtime/process/elf_file.h"
#include "runtime/process/os_error.h"

namespace dj {
namespace {

// The file at the addresses that it says.
Result<MappedModule> hold(const std::string& path, const std::vector<uint8_t>& elf) {
  const int fd = sealed_file(elf);
  if (fd < 0) return os_error("the kernel's text finds no memory");
  MappedModule module;
  module.path = path;
  module.open_path = hold_target_file(fd, fmt::format("/proc/{}/fd/{}", getpid(), fd));
  if (module.open_path.empty()) return Error{"djtap may open no more files (RLIMIT_NOFILE)"};
  module.version = version_of(module.open_path);
  DJ_TRY(const ElfFile file, read_elf(module.open_path));
  module.begin = ~uint64_t{0};
  for (const Elf64_Phdr& segment : file.segments) {
    if (segment.p_type != PT_LOAD) continue;
    const AddressRange range = {segment.p_vaddr, segment.p_vaddr + segment.p_memsz};
    module.begin = std::min(module.begin, range.begin);
    module.end = std::max(module.end, range.end);
    if ((segment.p_flags & PF_X) != 0) module.text.push_back(range);
  }
  return module;
}

}  // namespace

bool is_kernel_function(const std::string& name) {
  std::ifstream list(KernelFiles().symbols);
  std::string address, type, symbol, rest;
  while (list >> address >> type >> symbol && std::getline(list, rest)) {
    const bool is_of_module = rest.find('[') != std::string::npos;
    if (symbol == name && (type == "t" || type == "T") && !is_of_module) return true;
  }
  return false;
}

Result<std::vector<MappedModule>> running_kernel(
    const std::function<bool(const std::string& module)>& is_meant) {
  DJ_TRY_DO(check_root(ModuleFiles()));
  DJ_TRY(const LiveKernel live, LiveKernel::open());
  DJ_TRY(const std::vector<uint8_t> elf, live.kernel());
  DJ_TRY(MappedModule kernel, hold(std::string(kKernelPath), elf));
  kernel.is_executable_file = true;
  std::vector<MappedModule> found = {std::move(kernel)};
  DJ_TRY(const std::vector<std::string> names, live.modules());
  for (const std::string& name : names) {
    if (!is_meant(name)) continue;
    const Result<std::vector<uint8_t>> file = live.module(name);
    if (!file.ok() && file.error().kind == Fail::NotFound) continue;  // removed, or without text
    if (!file.ok()) return file.error();
    DJ_TRY(MappedModule module, hold(std::string(kKernelModules) + name, file.value()));
    found.push_back(std::move(module));
  }
  std::ranges::sort(found, {}, [](const MappedModule& module) { return module.begin; });
  return found;
}

}  // namespace dj
