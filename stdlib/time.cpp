// SPDX-License-Identifier: Apache-2.0
// hot: Built-ins about time: the cycle counter, scaled to CLOCK_REALTIME by factors of the
// controller.
#include "runtime/agent/event_record.h"
#include "stdlib/entries.h"
#include "stdlib/kernel_time.h"

using namespace dj;

int64_t dj_time_ns() {
  const abi::Header* header = agent::arena();
  if (__builtin_expect(header->tsc_mult == 0, 0)) return dj_kernel_time_ns(kRealtime);
  auto passed = static_cast<int64_t>(agent::cycles() - header->tsc_base);
  __int128 scaled = static_cast<__int128>(passed) * static_cast<int64_t>(header->tsc_mult);
  return static_cast<int64_t>(header->time_base_ns) +
         static_cast<int64_t>(scaled >> abi::kTscShift);
}
int64_t dj_time_us() { return dj_time_ns() / 1'000; }
int64_t dj_time_ms() { return dj_time_ns() / 1'000'000; }
int64_t dj_time_s() { return dj_time_ns() / 1'000'000'000; }
int64_t dj_cycles() { return static_cast<int64_t>(agent::cycles()); }

// Of this CPU, from some moment before the session on: differences count, and nobody sets it.
int64_t dj_local_clock_ns() {
  const abi::Header* header = agent::arena();
  if (__builtin_expect(header->tsc_mult == 0, 0)) return dj_kernel_time_ns(kMonotonic);
  auto scaled = static_cast<unsigned __int128>(agent::cycles()) * header->tsc_mult;
  return static_cast<int64_t>(scaled >> abi::kTscShift);
}
int64_t dj_local_clock_us() { return dj_local_clock_ns() / 1'000; }
int64_t dj_local_clock_ms() { return dj_local_clock_ns() / 1'000'000; }
int64_t dj_local_clock_s() { return dj_local_clock_ns() / 1'000'000'000; }
