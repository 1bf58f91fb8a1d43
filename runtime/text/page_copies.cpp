// A byte is read and written back; only another patcher of the same instruction could come between.
#include "runtime/text/page_copies.h"

#include <fcntl.h>

#include <atomic>

#include "compiler/base/parallel.h"
#include "runtime/process/os_error.h"
#include "runtime/process/running_memory.h"

namespace dj {

PageCopies copy_pages(pid_t pid, const TextImage& text) {
  const uint64_t begin = now_ns();
  PageCopies copies;
  std::atomic<uint64_t> pages = 0;
  RunningMemory memory(pid, O_RDWR);
  const std::vector<TextImage::Span>& spans = text.spans();
  parallel(memory.is_open() ? spans.size() : 0, [&](size_t i) {
    uint8_t byte = 0;
    if (memory.read(spans[i].begin, &byte, 1) && memory.write(spans[i].begin, &byte, 1)) pages++;
  });
  copies.pages = pages;
  copies.ns = now_ns() - begin;
  return copies;
}

}  // namespace dj
