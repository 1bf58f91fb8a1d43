// SPDX-License-Identifier: Apache-2.0
// The kernel's clocks, for machines whose cycle counter is no clock.
#include "stdlib/kernel_time.h"

#include "runtime/agent/ask.h"

using namespace dj;

DJ_COLD_CALL int64_t dj_kernel_time_ns(uint64_t clock) {
  struct {
    int64_t s, ns;
  } now = {};
  agent::ask_kernel(agent::kSysClockGettime, clock, agent::word(&now));
  return now.s * 1'000'000'000 + now.ns;
}
