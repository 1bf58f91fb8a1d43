// SPDX-License-Identifier: Apache-2.0
// Built-ins on numbers: byte orders, chance.
#include "runtime/agent/event_record.h"
#include "stdlib/entries.h"

using namespace dj;

int64_t dj_swap16(int64_t value) { return __builtin_bswap16(static_cast<uint16_t>(value)); }
int64_t dj_swap32(int64_t value) { return __builtin_bswap32(static_cast<uint32_t>(value)); }
int64_t dj_swap64(int64_t value) {
  return static_cast<int64_t>(__builtin_bswap64(static_cast<uint64_t>(value)));
}

// 0 to limit-1, from the cycle counter and the CPU, well mixed: no state that threads would have to
// share. Not for secrets.
int64_t dj_randint(int64_t limit) {
  if (limit <= 0) return 0;
  uint64_t seed = agent::cycles() + agent::arena()->ticket + (uint64_t{agent::current_row()} << 48);
  for (int round = 0; round < 3; ++round) {
    seed = (seed ^ seed >> 29) * 0x9e3779b97f4a7c15ull;
    seed ^= seed >> 32;
  }
  return static_cast<int64_t>(static_cast<unsigned __int128>(seed) * static_cast<uint64_t>(limit) >>
                              64);
}
