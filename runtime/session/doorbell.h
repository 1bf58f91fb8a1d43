// SPDX-License-Identifier: Apache-2.0
// Doorbell is a thread that waits at a futex word of the arena, and makes a descriptor readable
// when the word has changed. So the loop waits for the word as it waits for descriptors.
#pragma once
#include <atomic>
#include <cstdint>
#include <optional>

#include "compiler/base/spare_thread.h"

namespace dj {

class Doorbell {
 public:
  // word: its address in the arena. The arena must outlive this object.
  explicit Doorbell(uint64_t word);
  Doorbell(const Doorbell&) = delete;
  ~Doorbell();
  // A descriptor that is readable when the word has changed since the last answer(). -1: no thread
  // waits, so the caller has to look at the word often.
  int fd() const { return thread_ ? fd_ : -1; }
  // Makes fd() unreadable. Call it before you look at the word.
  void answer();

 private:
  void listen();
  uint64_t word_;
  int fd_;
  std::atomic<bool> ends_{false};
  std::optional<SpareThread> thread_;
};

}  // namespace dj
