// SPDX-License-Identifier: Apache-2.0
// A byte is read and written back; only another patcher of the same instruction could come between.
#include "runtime/text/page_copies.h"

#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "compiler/base/page.h"
#include "runtime/process/os_error.h"

namespace dj {

std::vector<uint64_t> bytes_of_pages(const SiteList& sites) {
  std::vector<uint64_t> bytes;
  for (const PatchSite* site : sites) {
    const uint64_t end = site->address + site->original.size();
    for (uint64_t at = site->address; at < end; at = (at / kPage + 1) * kPage) {
      if (bytes.empty() || bytes.back() / kPage != at / kPage) bytes.push_back(at);
    }
  }
  return bytes;
}

PageCopying::PageCopying(pid_t pid, std::vector<uint64_t> bytes)
    : memory_(pid, O_RDWR), bytes_(std::move(bytes)) {
  if (has_thread_for(bytes_.size())) thread_ = spare_thread([this] { copy(); });
}

bool PageCopying::has_thread_for(size_t pages) {
  constexpr size_t kMany = 200;  // a few are written in the time that a thread takes to begin
  return pages >= kMany;
}

PageCopying::~PageCopying() {
  next_ = bytes_.size();
  go_on();
}

void PageCopying::pause() { paused_ = true; }

void PageCopying::go_on() {
  paused_ = false;
  paused_.notify_all();
}

PageCopies PageCopying::finish() {
  go_on();
  copy();
  if (thread_) thread_->join();
  return {pages_, ns_};
}

void PageCopying::copy() {
  constexpr size_t kAtOnce = 8;
  while (memory_.is_open()) {
    paused_.wait(true);
    const size_t begin = next_.fetch_add(kAtOnce);
    if (begin >= bytes_.size()) return;
    const uint64_t begun = now_ns();
    for (size_t i = begin; i < std::min(begin + kAtOnce, bytes_.size()); i++) {
      uint8_t byte = 0;
      pages_ += memory_.read(bytes_[i], &byte, 1) && memory_.write(bytes_[i], &byte, 1);
    }
    ns_ += now_ns() - begun;
  }
}

}  // namespace dj
