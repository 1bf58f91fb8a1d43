// SPDX-License-Identifier: Apache-2.0
// ExecutedPrograms counts the programs that processes execute which the target has started. The
// session ends for such a process, and djtap reports how many there were.
#pragma once
#include <stdint.h>

#include "runtime/shared/atomic.h"

namespace dj::abi {

constexpr uint32_t kExecutedPrograms = 16;
constexpr uint32_t kProgramNameBytes = 16;  // as the kernel's names of processes

struct ExecutedProgram {
  Pair name;  // bytes, padded with NULs; the first is NUL: the place is free
  uint64_t count, pad;
};
// Data: written by the agent.
struct ExecutedPrograms {
  uint64_t count;  // of all, also of those that have found no place
  uint64_t pad;
  ExecutedProgram programs[kExecutedPrograms];
};

}  // namespace dj::abi
