// SPDX-License-Identifier: Apache-2.0
// Progress shows one line on a terminal that says what djtap is doing, when that takes longer than
// half a second. djtap erases the line before it writes anything else.
#pragma once
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/base/spare_thread.h"

namespace dj {

class Progress {
 public:
  // Shows "djtap: <what> ... 1.2 s" on stderr from half a second on until the end of this object,
  // if stderr is a terminal. A thread shows it, so djtap must not fork meanwhile. Of several
  // Progress objects the newest shows its line.
  explicit Progress(std::string_view what);
  ~Progress();
  Progress(const Progress&) = delete;

 private:
  void show();

  std::string what_;
  const int depth_;
  std::mutex mutex_;  // guards ended_
  std::condition_variable changed_;
  bool ended_ = false;
  std::optional<SpareThread> thread_;
};

// Erases the line of a Progress. Call it before you write a line to stderr.
void erase_progress();

// Calls work() under a Progress and returns its result.
template <typename Work>
auto with_progress(std::string_view what, const Work& work) {
  const Progress progress(what);
  return work();
}

}  // namespace dj
