// SPDX-License-Identifier: Apache-2.0
// Stacks by /proc/PID/maps, and by what glibc tells debuggers of its control block.
#include "runtime/process/stack_query.h"

#include <sys/resource.h>

#include <algorithm>

#include "runtime/process/c_library.h"
#include "runtime/process/elf_file.h"
#include "runtime/process/process.h"
#include "runtime/process/running_memory.h"

namespace dj {

// The kernel keeps what is mapped away from the whole of the stack's limit.
uint64_t first_stack(pid_t pid, const Result<std::vector<Mapping>>& maps) {
  constexpr uint64_t kMost = 8 << 20, kRoom = 64 << 10;
  if (!maps.ok()) return UINT64_MAX;
  const auto is_stack = [](const Mapping& m) { return m.path == "[stack]"; };
  const auto stack = std::find_if(maps.value().begin(), maps.value().end(), is_stack);
  rlimit limit = {};
  if (stack == maps.value().end() || prlimit(pid, RLIMIT_STACK, nullptr, &limit) != 0)
    return UINT64_MAX;
  return stack->end - std::min<uint64_t>(limit.rlim_cur, kMost) + kRoom;
}

// nptl/descr.h: behind `nextevent`, a pointer of which libthread_db is told, come an exception
// (struct _Unwind_Exception, 16-byte aligned), stackblock and stackblock_size.
int64_t stack_block_offset(pid_t pid, const std::vector<MappedModule>& modules) {
  constexpr uint32_t kAlign = 16, kExceptionBytes = 32, kMost = 1 << 16;
  const MappedModule* library = c_library(modules);
  if (library == nullptr) return 0;
  struct {
    uint32_t bits, count, offset;
  } told = {};
  Result<ElfSymbol> symbol = find_symbol(library->open_path, "_thread_db_pthread_nextevent");
  RunningMemory memory(pid);
  if (!symbol.ok() || !memory.is_open() ||
      !memory.read(symbol.value().address + library->bias, &told, sizeof told) || told.bits != 64 ||
      told.count != 1 || told.offset > kMost)
    return 0;
  const uint32_t behind = told.offset + sizeof(uint64_t);
  return (behind + kAlign - 1) / kAlign * kAlign + kExceptionBytes;
}

}  // namespace dj
