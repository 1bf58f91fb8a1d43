// The pages of text that will be patched become the process's own copies while it still runs: the
// kernel's copy-on-write faults, the longest part of a first patch, then do not lengthen the stop.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "runtime/text/site_text.h"

namespace dj {

struct PageCopies {
  uint64_t pages = 0;  // that were looked at; some may have been copies before
  uint64_t ns = 0;
};

// The address of a byte of a site in every page that one of them touches; sites come in memory's
// order, mostly: a page may be among them twice.
std::vector<uint64_t> bytes_of_pages(const SiteList& sites);
// Writes each of these bytes as it is: in one thread, as it runs beside others. What cannot be
// written is left to the patch itself, which reports it.
PageCopies copy_pages(pid_t pid, const std::vector<uint64_t>& bytes);

}  // namespace dj
