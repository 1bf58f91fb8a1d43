// SPDX-License-Identifier: Apache-2.0
// Awake: as long as it lives, a thread with the lowest priority keeps a processor from sleeping,
// and leaves it to whoever wants it. A target that makes system calls for djtap is woken twice for
// each, by turns with djtap, and the kernel likes to wake it on a processor that has nothing to do:
// on a virtual machine that takes 100 us where that processor sleeps, and 5 where it does not.
#pragma once
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <optional>

#include "compiler/base/spare_thread.h"

namespace dj {

class Awake {
 public:
  Awake()
      : thread_(spare_thread([this] {
          const sched_param none = {};
          if (pthread_setschedparam(pthread_self(), SCHED_IDLE, &none) != 0) return;
          while (!over_) __builtin_ia32_pause();
        })) {}
  Awake(const Awake&) = delete;
  ~Awake() { over_ = true; }

 private:
  std::atomic<bool> over_{false};
  std::optional<SpareThread> thread_;  // joined before the other goes
};

}  // namespace dj
