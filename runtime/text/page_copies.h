// The pages of text that will be patched become the process's own copies while it still runs: the
// kernel's copy-on-write faults, the longest part of a first patch, then do not lengthen the stop.
#pragma once
#include <sys/types.h>

#include <cstdint>

#include "runtime/text/text_image.h"

namespace dj {

struct PageCopies {
  uint64_t pages = 0;  // that were looked at; some may have been copies before
  uint64_t ns = 0;
};

// Writes one byte of every page that a site of the image touches, a byte of that site, as it is.
// What cannot be written is left to the patch itself, which reports it.
PageCopies copy_pages(pid_t pid, const TextImage& text);

}  // namespace dj
