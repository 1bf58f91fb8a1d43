// A byte is read and written back; only another patcher of the same instruction could come between.
#include "runtime/control/page_copies.h"

#include <fcntl.h>

#include <unordered_set>

#include "runtime/control/os_error.h"
#include "runtime/control/running_memory.h"

namespace dj {

PageCopies copy_pages(pid_t pid, const SiteList& sites) {
  constexpr uint64_t kPage = 4096;
  const uint64_t begin = now_ns();
  PageCopies copies;
  RunningMemory memory(pid, O_RDWR);
  std::unordered_set<uint64_t> seen;
  for (const PatchSite* site : sites) {
    if (!memory.is_open() || site->state != SiteState::Registered || site->original.empty()) {
      continue;
    }
    for (uint64_t address : {site->address, site->address + site->original.size() - 1}) {
      uint8_t byte = 0;
      if (seen.insert(address / kPage).second && memory.read(address, &byte, 1) &&
          memory.write(address, &byte, 1)) {
        copies.pages++;
      }
    }
  }
  copies.ns = now_ns() - begin;
  return copies;
}

}  // namespace dj
