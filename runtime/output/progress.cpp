// SPDX-License-Identifier: Apache-2.0
// A thread of its own writes the line, so that the work need not be told to look at a clock.
#include "runtime/output/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>

#include "compiler/base/printable.h"
#include "runtime/output/terminal.h"

namespace dj {
namespace {

constexpr std::chrono::milliseconds kPatience(500), kStep(100);
constexpr const char* kErase = "\r\x1b[K";
std::atomic<int> depth = 0;  // how many there are

}  // namespace

Progress::Progress(std::string_view what) : what_(printable(what)), depth_(++depth) {
  if (is_drawn_on(STDERR_FILENO)) thread_ = spare_thread([this] { show(); });
}

Progress::~Progress() {
  --depth;
  if (!thread_) return;
  {
    std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  thread_.reset();  // the line may have failed for want of memory; the work goes on
}

void erase_progress() {
  if (depth > 0 && is_drawn_on(STDERR_FILENO)) std::fputs(kErase, stderr);
}

void Progress::show() {
  const auto begin = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  bool shown = false;
  while (!changed_.wait_for(lock, shown ? kStep : kPatience, [this] { return ended_; })) {
    if (depth != depth_) continue;
    const std::chrono::duration<double> gone = std::chrono::steady_clock::now() - begin;
    std::fputs(fmt::format("{}djtap: {} ... {:.1f} s", kErase, what_, gone.count()).c_str(),
               stderr);
    shown = true;
  }
  if (shown) std::fputs(kErase, stderr);
}

}  // namespace dj
