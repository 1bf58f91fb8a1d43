// SPDX-License-Identifier: Apache-2.0
// Awake keeps a processor from sleeping while it lives: its thread, which has the lowest priority,
// spins, and leaves the processor to every other thread. A target that makes system calls for djtap
// wakes twice for each, by turns with djtap. The kernel likes to wake it on an idle processor: on a
// virtual machine that takes 100 us if that processor sleeps, and 5 us if it does not.
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
  std::optional<SpareThread> thread_;  // its destructor joins it before over_ dies
};

}  // namespace dj
