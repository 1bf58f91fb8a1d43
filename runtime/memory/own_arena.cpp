// SPDX-License-Identifier: Apache-2.0
// An arena that no other process has.
#include "runtime/memory/own_arena.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "runtime/memory/session_memory.h"

namespace dj {

Result<std::shared_ptr<void>> map_own_arena(const Layout& layout) {
  void* wanted = reinterpret_cast<void*>(layout.base);
  void* got = mmap(wanted, layout.bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1, 0);
  const ArenaPlace place = arena_place(layout);
  if (got != wanted || !map_private(place))
    return Error{fmt::format("cannot map the data arena: {}", std::strerror(errno))};
  const uint64_t bytes = place.end() - place.base;
  return std::shared_ptr<void>(got, [bytes](void* p) { munmap(p, bytes); });
}

}  // namespace dj
