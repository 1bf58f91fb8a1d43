// SPDX-License-Identifier: Apache-2.0
// Doorbell: a thread that waits at a futex word of the arena, and makes a descriptor readable when
// the word has changed: so the loop hears of it as it hears of all else.
#pragma once
#include <atomic>
#include <cstdint>
#include <optional>

#include "compiler/base/spare_thread.h"

namespace dj {

class Doorbell {
 public:
  // word: an address in the arena, which must outlive this object.
  explicit Doorbell(uint64_t word);
  Doorbell(const Doorbell&) = delete;
  ~Doorbell();
  // Readable when the word has changed since the last answer(). -1: there is no thread that waits,
  // so the caller has to look at the word often.
  int fd() const { return thread_ ? fd_ : -1; }
  // Makes fd() unreadable. Look at the word afterwards.
  void answer();

 private:
  void listen();
  uint64_t word_;
  int fd_;
  std::atomic<bool> ends_{false};
  std::optional<SpareThread> thread_;
};

}  // namespace dj
