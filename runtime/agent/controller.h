// SPDX-License-Identifier: Apache-2.0
// controller_is_gone() tells threads that wait for djtap that it was killed.
#pragma once
#include "runtime/agent/arena.h"
#include "runtime/agent/ask.h"

namespace dj::agent {

struct Timespec {
  int64_t seconds, nanoseconds;
};
constexpr uint64_t kFutexWait = 0, kFutexWake = 1;  // of words that processes share

// Not in a pid namespace of one's own.
inline bool sees_controller() { return arena()->target_own_pid == arena()->target_pid; }

// False also where it cannot be told.
inline bool controller_is_gone() {
  return (abi::load(&words().loader.presence) & abi::kPresent) == 0;
}

}  // namespace dj::agent
