// SPDX-License-Identifier: Apache-2.0
// Progress: one line on a terminal that says what djtap is doing, when that takes longer than one
// likes to wait without a word. It is gone before anything else is written.
#pragma once
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>

#include "compiler/base/spare_thread.h"

namespace dj {

class Progress {
 public:
  // From half a second on until the end of this object, stderr says "djtap: <what> ... 1.2 s", if
  // it is a terminal; else nothing is ever said. A thread says it, so nobody may fork meanwhile.
  // While there are several, the newest is shown.
  explicit Progress(std::string what);
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

// To be called before a line is written to stderr while there may be a Progress.
void erase_progress();

// The result of work(), with its progress shown.
template <typename Work>
auto with_progress(std::string what, const Work& work) {
  Progress progress(std::move(what));
  return work();
}

}  // namespace dj
