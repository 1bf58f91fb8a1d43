// SPDX-License-Identifier: Apache-2.0
// The pages of text that will be patched become the process's own copies while it still runs: the
// kernel's copy-on-write faults, the longest part of a first patch, then do not lengthen the stop.
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
  uint64_t pages = 0;  // that were looked at; some may have been copies before
  uint64_t ns = 0;     // of all threads that copied
};

// The address of a byte of a site in every page that one of them touches; sites come in memory's
// order, mostly: a page may be among them twice.
std::vector<uint64_t> bytes_of_pages(const SiteList& sites);

// PageCopying: writes each of these bytes as it is, in a thread of its own from when it is made
// (where none can be had, in finish()). What cannot be written is left to the patch itself, which
// reports it. Gone, it leaves the rest.
class PageCopying {
 public:
  PageCopying(pid_t pid, std::vector<uint64_t> bytes);
  ~PageCopying();
  // What is begun goes on, for some 100 us.
  void pause();
  void go_on();
  // Takes part, until all is done.
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
