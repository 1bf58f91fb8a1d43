// SPDX-License-Identifier: Apache-2.0
// kernel_time.h reads the kernel's clocks, for machines whose cycle counter is no clock.
#pragma once
#include <stdint.h>

#include "runtime/agent/cold_call.h"

constexpr uint64_t kRealtime = 0, kMonotonic = 1;  // clock_gettime(2)'s numbers

#pragma GCC visibility push(hidden)
extern "C" {
// Nanoseconds of `clock`, by a system call.
DJ_COLD_CALL int64_t dj_kernel_time_ns(uint64_t clock);
}
#pragma GCC visibility pop
