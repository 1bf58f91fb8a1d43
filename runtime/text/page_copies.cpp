// A byte is read and written back; only another patcher of the same instruction could come between.
#include "runtime/text/page_copies.h"

#include <fcntl.h>

#include "runtime/process/os_error.h"
#include "runtime/process/running_memory.h"

namespace dj {

std::vector<uint64_t> bytes_of_pages(const SiteList& sites) {
  constexpr uint64_t kPage = 4096;
  std::vector<uint64_t> bytes;
  for (const PatchSite* site : sites) {
    const uint64_t end = site->address + site->original.size();
    for (uint64_t at = site->address; at < end; at = (at / kPage + 1) * kPage) {
      if (bytes.empty() || bytes.back() / kPage != at / kPage) bytes.push_back(at);
    }
  }
  return bytes;
}

PageCopies copy_pages(pid_t pid, const std::vector<uint64_t>& bytes) {
  const uint64_t begin = now_ns();
  PageCopies copies;
  RunningMemory memory(pid, O_RDWR);
  for (const uint64_t address : memory.is_open() ? bytes : std::vector<uint64_t>()) {
    uint8_t byte = 0;
    copies.pages += memory.read(address, &byte, 1) && memory.write(address, &byte, 1);
  }
  copies.ns = now_ns() - begin;
  return copies;
}

}  // namespace dj
