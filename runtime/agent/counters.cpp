// SPDX-License-Identifier: Apache-2.0
// hot: Sharded counters: one row per CPU, changed by one plain add inside a restartable sequence.
#include "runtime/agent/arena.h"
#include "runtime/shared/thread_rows.h"

using namespace dj;
using agent::arena;
using agent::counter_word;

void dj_count_add(uint32_t counter, int64_t n) {
  const abi::Header* header = arena();
  if (dj_has_rseq && agent::rseq_add(header->counters.address(agent::place()) + 8ull * counter,
                                     header->counter_shift, n))
    return;
  __atomic_fetch_add(counter_word(counter, header->cpus), n, __ATOMIC_RELAXED);
}

int64_t dj_count_read(uint32_t counter) {
  uint64_t sum = 0;
  for (uint32_t row = 0; row < abi::counter_rows(arena()); ++row) {
    sum += static_cast<uint64_t>(__atomic_load_n(counter_word(counter, row), __ATOMIC_RELAXED));
  }
  return static_cast<int64_t>(sum);
}

// Rows of CPUs change by unlocked adds, so nobody else may store to them: what they sum to is taken
// off the last row.
void dj_count_clear(uint32_t counter) {
  int64_t* last = counter_word(counter, arena()->cpus);
  __atomic_fetch_sub(last, dj_count_read(counter), __ATOMIC_RELAXED);
}
