// SPDX-License-Identifier: Apache-2.0
// PageCopying gives the process its own copies of the pages of text that djtap will patch, while
// the process still runs. The kernel's copy-on-write faults, the longest part of a first patch,
// then do not lengthen the stop.
#pragma once
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/base/spare_thread.h"
#include "runtime/process/running_memory.h"
#include "runtime/text/site_text.h"

namespace dj {

struct PageCopies {
  uint64_t pages = 0;  // that it has written to; some may have been copies before
  uint64_t ns = 0;     // of all threads that copied
};

// Returns the address of a byte of a site in every page that a site touches. Sites come mostly in
// memory's order, so a page may be among them twice.
std::vector<uint64_t> bytes_of_pages(const SiteList& sites);

// PageCopying: writes each of these bytes as it is. If they are many, a thread of its own does that
// from the constructor on; else, or where djtap can have no thread, finish() does it. It skips a byte that it cannot
// write: the patch itself then reports it. The destructor leaves the rest undone.
class PageCopying {
 public:
  PageCopying(pid_t pid, std::vector<uint64_t> bytes);
  ~PageCopying();
  // Whether so many pages are worth a thread.
  static bool has_thread_for(size_t pages);
  // Pauses the thread. A piece that it has begun goes on, for some 100 us.
  void pause();
  void go_on();
  // Copies together with the thread until all is done.
  PageCopies finish();

 private:
  void copy();
  const RunningMemory memory_;  // of the program that ran when this was made, whatever runs later
  const std::vector<uint64_t> bytes_;
  std::atomic<size_t> next_{0};
  std::atomic<bool> paused_{false};
  std::atomic<uint64_t> pages_{0}, ns_{0};
  std::optional<SpareThread> thread_;
};

}  // namespace dj
