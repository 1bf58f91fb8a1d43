// SPDX-License-Identifier: Apache-2.0
// Two variables of the dynamic linker, and a request of ptrace().
#include "runtime/process/rseq_query.h"

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "runtime/process/elf_file.h"
#include "runtime/process/os_error.h"
#include "runtime/process/running_memory.h"
#include "runtime/process/tracer.h"

namespace dj {
namespace {

bool is_loader(const MappedModule& module) {
  std::string_view name = module.path;
  name.remove_prefix(name.rfind('/') + 1);
  return name.starts_with("ld-linux");
}

}  // namespace

std::optional<int64_t> glibc_rseq_offset(pid_t pid, const std::vector<MappedModule>& modules) {
  RunningMemory memory(pid);
  // A static program has it itself; to look through another's symbols would be in vain, and long.
  const bool is_static = std::none_of(modules.begin(), modules.end(), is_loader);
  for (const MappedModule& module : modules) {
    if (module.is_vdso || !(is_static ? module.is_executable_file : is_loader(module))) {
      continue;
    }
    Result<ElfSymbol> offset = find_symbol(module.open_path, "__rseq_offset");
    Result<ElfSymbol> size = find_symbol(module.open_path, "__rseq_size");
    int64_t offset_now = 0;
    uint32_t size_now = 0;
    if (offset.ok() && size.ok() && memory.is_open() &&
        memory.read(offset.value().address + module.bias, &offset_now, sizeof offset_now) &&
        memory.read(size.value().address + module.bias, &size_now, sizeof size_now) &&
        size_now != 0) {
      return offset_now;
    }
  }
  return std::nullopt;
}

Result<std::optional<RseqArea>> rseq_of(pid_t tid, uint64_t fs_base) {
  struct {  // struct ptrace_rseq_configuration of linux/ptrace.h
    uint64_t address;
    uint32_t size, signature, flags, pad;
  } config = {};
  constexpr int kGetRseqConfiguration = 0x420f;
  if (trace(kGetRseqConfiguration, tid, sizeof config, &config) < 0) {
    if (errno == EIO || errno == EINVAL) {
      return std::optional<RseqArea>();  // a kernel without it: nothing may be assumed
    }
    return os_error("cannot ask for the rseq area of thread " + std::to_string(tid));
  }
  if (config.address == 0) {
    return std::optional<RseqArea>();
  }
  return std::optional<RseqArea>(
      RseqArea{static_cast<int64_t>(config.address - fs_base), config.size, config.signature});
}

}  // namespace dj
