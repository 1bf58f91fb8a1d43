// SPDX-License-Identifier: Apache-2.0
// ThreadRows says which thread counts in which row of the counters. A row that one thread alone
// changes needs no locked instruction and no restartable sequence: `incq %gs:word` is done or not
// when a signal or another thread comes. gs base of a thread = its row * bytes of a row.
#pragma once
#include "runtime/shared/abi.h"
#include "runtime/shared/atomic.h"

namespace dj::abi {

// Data. How many rows there are says Header::thread_row_count.
struct ThreadRows {
  uint32_t pad;
  uint32_t next;      // rows from 1 to below this have been given away; written by both
  uint32_t rotor;     // where the next search for a dead owner begins; written by the agent
  uint32_t crowded;   // threads that found none and count in row 0, where counts may be lost
  uint32_t owner[1];  // really one a row: kernel thread numbers; written by both
};

inline ThreadRows* thread_rows(const Header* header) {
  return header->thread_rows.get(arena_of(header));
}

// Rows of a counter: of CPUs, the one for threads without rseq, those of threads so far.
inline uint32_t counter_rows(const Header* header) {
  const uint32_t others = header->cpus + 1;
  if (header->thread_row_count == 0) return others;
  const auto count = static_cast<uint32_t>(header->thread_row_count);
  const uint32_t next = load(&thread_rows(header)->next);
  return others + (next < count ? next : count);
}

// A row for thread `tid`, less than `count`; 0: none is left. is_gone(tid): that thread has ended,
// so its row is free (what it counted stays in it). Any thread and process may call it at any time.
template <typename IsGone>
inline uint32_t take_thread_row(ThreadRows* rows, uint32_t count, uint32_t tid, IsGone is_gone) {
  uint32_t next = load(&rows->next);
  while (next < count) {
    const uint32_t row = next == 0 ? 1 : next;
    if (__atomic_compare_exchange_n(&rows->next, &next, row + 1, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST)) {
      store(&rows->owner[row], tid);
      return row;
    }
  }
  for (uint32_t i = 1; i < count; ++i) {
    const uint32_t turn = __atomic_fetch_add(&rows->rotor, 1, __ATOMIC_RELAXED);
    const uint32_t row = 1 + turn % (count - 1);
    uint32_t owner = load(&rows->owner[row]);
    // 0: given away a moment ago, its owner is about to write itself down.
    if (owner != 0 && is_gone(owner) &&
        __atomic_compare_exchange_n(&rows->owner[row], &owner, tid, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST))
      return row;
  }
  if (count != 0) __atomic_fetch_add(&rows->crowded, 1, __ATOMIC_RELAXED);
  return 0;
}

}  // namespace dj::abi
