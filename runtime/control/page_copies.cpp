// A byte is read and written back; only another patcher of the same instruction could come between.
#include "runtime/control/page_copies.h"

#include <fcntl.h>

#include "runtime/control/os_error.h"
#include "runtime/control/running_memory.h"

namespace dj {

PageCopies copy_pages(pid_t pid, const TextImage& text) {
  const uint64_t begin = now_ns();
  PageCopies copies;
  RunningMemory memory(pid, O_RDWR);
  for (const TextImage::Span& span : text.spans()) {
    uint8_t byte = 0;
    if (memory.is_open() && memory.read(span.begin, &byte, 1) &&
        memory.write(span.begin, &byte, 1)) {
      copies.pages++;
    }
  }
  copies.ns = now_ns() - begin;
  return copies;
}

}  // namespace dj
